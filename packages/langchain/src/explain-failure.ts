import type { Answer } from 'toolcrib';
import { toolcribError, type ToolcribError } from './toolcrib-error.ts';

/** What a tool that was asked and failed says. Toolcrib has chosen the words already [EXEC-4]. */
export function failureOf(answer: Answer): ToolcribError {
  const { error, text, structured_content: structured } = answer;
  const said = error?.message || text;
  // Whoever reads it should not take it for an outage.
  const reported = said && error?.origin === 'tool' ? `The tool reported: ${said}` : said;
  return toolcribError(error?.code ?? 'SERVICE_UNAVAILABLE', reported || 'The tool failed and does not say why.', {
    retryable: error?.retryable ?? false,
    answer,
    cause: structured ?? undefined,
  });
}

/** A refusal in words that a model can act on: it knows its tools by another name, and no addresses. */
export function explainRefusal(error: ToolcribError, modelName: string): ToolcribError {
  const { code, origin, retryable, retryAfterMs } = error;
  return toolcribError(code, wordsFor(error, modelName), { origin, retryable, retryAfterMs, cause: error });
}

function wordsFor({ code, message, retryAfterMs }: ToolcribError, modelName: string): string {
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  const wait = retryAfterMs === undefined ? '' : ` Wait ${Math.ceil(retryAfterMs / 1000)} s before you try it again.`;
  if (code === 'NOT_FOUND') return `The tool ${modelName} is not there any more, or not for this user. Use another one.`;
  if (code === 'UNAUTHENTICATED') return `${sentence} The user has to sign in again.`;
  if (code === 'FORBIDDEN') return `${sentence} Trying it again will not help.`;
  if (code === 'VALIDATION_ERROR') return `${sentence} Correct the arguments of ${modelName} and call it again.`;
  return `${sentence}${wait}`;
}
