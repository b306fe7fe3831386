import type { ContentBlock, ToolOutput } from '../../model/call.ts';
import type { CribError } from '../../model/crib-error.ts';
import type { Json } from '../../model/json.ts';
import type { Redactor } from '../../secrets/redactor.ts';

/** [ENV-4] The same output without the secrets that are known; the very same where there are none in it. */
export function redactOutput(output: ToolOutput, redactor: Redactor): ToolOutput {
  const content = redactor.redactJson(output.content as Json) as ContentBlock[];
  const structured = output.structured_content === undefined ? undefined : redactor.redactJson(output.structured_content);
  if (content === output.content && structured === output.structured_content) return output;
  return { ...output, content, ...(structured !== undefined && { structured_content: structured }) };
}

/** The same error with other words: its kind decides whether a call is made again. */
export function redactError(error: CribError, redactor: Redactor): CribError {
  const message = redactor.redact(error.message);
  const details = error.details === undefined ? undefined : redactor.redactJson(error.details);
  if (message === error.message && details === error.details) return error;
  return Object.assign(error, { message, details, stack: redactor.redact(error.stack ?? '') });
}

/** One wrapper around every answer instead of two, which every call would pay for. */
export function bothRedactors(first: Redactor, second: Redactor): Redactor {
  return {
    add: (value) => second.add(value),
    redact: (text) => second.redact(first.redact(text)),
    redactJson: (json) => second.redactJson(first.redactJson(json)),
  };
}
