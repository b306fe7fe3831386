import type { Answer } from 'toolcrib';
import { toolcribError, type ToolcribError } from './toolcrib-error.ts';

/** The error for a failed call, with the message that Toolcrib has already worded [EXEC-4]. */
export function failureOf(answer: Answer): ToolcribError {
  const { error, text, structured_content: structured } = answer;
  const said = error?.message || text;
  // Shows that the tool itself failed, and that this is not an outage.
  const reported = said && error?.origin === 'tool' ? `The tool reported: ${said}` : said;
  return toolcribError(error?.code ?? 'SERVICE_UNAVAILABLE', reported || 'The tool failed without giving a reason.', {
    retryable: error?.retryable ?? false,
    answer,
    cause: structured ?? undefined,
  });
}

/** Rewords a refusal so that a model can act on it: uses the name by which the model knows the tool, and no addresses. */
export function explainRefusal(error: ToolcribError, modelName: string): ToolcribError {
  const { code, origin, retryable, retryAfterMs } = error;
  return toolcribError(code, wordsFor(error, modelName), { origin, retryable, retryAfterMs, cause: error });
}

function wordsFor({ code, message, retryAfterMs }: ToolcribError, modelName: string): string {
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  const wait = retryAfterMs === undefined ? '' : ` Wait ${Math.ceil(retryAfterMs / 1000)} s before you try again.`;
  if (code === 'NOT_FOUND') return `The tool ${modelName} no longer exists, or this user may not use it. Use another tool.`;
  if (code === 'UNAUTHENTICATED') return `${sentence} The user has to sign in again.`;
  if (code === 'FORBIDDEN') return `${sentence} Trying again will not help.`;
  if (code === 'VALIDATION_ERROR') return `${sentence} Correct the arguments of ${modelName} and call it again.`;
  return `${sentence}${wait}`;
}
