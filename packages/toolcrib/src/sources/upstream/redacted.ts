import type { ContentBlock, ToolOutput } from '../../model/call.ts';
import type { CribError } from '../../model/crib-error.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { Redactor } from '../../secrets/redactor.ts';

type Redacting = ReturnType<Redactor['except']>;

/**
 * [ENV-4] The same output without the secrets that are known; the very same where there are none in it. What the caller has `given` stays:
 * a tool that repeats a guess must not tell whether it is right.
 */
export function redactOutput(output: ToolOutput, redactor: Redactor, given?: JsonObject): ToolOutput {
  const clean = cleanOutput(output, redactor);
  return clean === output || given === undefined ? clean : cleanOutput(output, redactor.except(given));
}

export function redactJsonFor(json: Json, redactor: Redactor, given?: JsonObject): Json {
  const clean = redactor.redactJson(json);
  return clean === json || given === undefined ? clean : redactor.except(given).redactJson(json);
}

/** The same error with other words: its kind decides whether a call is made again. */
export function redactError(error: CribError, redactor: Redactor, given?: JsonObject): CribError {
  const clean = cleanError(error, redactor);
  if (clean === undefined) return error;
  return Object.assign(error, given === undefined ? clean : cleanError(error, redactor.except(given)));
}

function cleanOutput(output: ToolOutput, redactor: Redacting): ToolOutput {
  const content = redactor.redactJson(redactAcross(output.content, redactor) as Json) as ContentBlock[];
  const structured = output.structured_content === undefined ? undefined : redactor.redactJson(output.structured_content);
  // What a server adds to its answer, and to an error: `_meta`, and the data of a JSON-RPC error.
  const metadata = output.metadata && (redactor.redactJson(output.metadata) as JsonObject);
  if (content === output.content && structured === output.structured_content && metadata === output.metadata) return output;
  return { ...output, content, ...(structured !== undefined && { structured_content: structured }), ...(metadata && { metadata }) };
}

/** Servers that read something in pieces give each in a block of its own, and whoever reads them puts them together again. */
function redactAcross(content: ContentBlock[], redactor: Redacting): ContentBlock[] {
  if (content.length < 2) return content;
  const texts = content.map((block) => (block.type === 'text' ? (block.text ?? '') : ''));
  const clean = redactor.redactTexts(texts);
  return clean === texts
    ? content
    : content.map((block, index) => (block.type === 'text' ? { ...block, text: clean[index] ?? '' } : block));
}

function cleanError({ message, details, stack }: CribError, redactor: Redacting): Partial<CribError> | undefined {
  const clean = { message: redactor.redact(message), details: details === undefined ? undefined : redactor.redactJson(details) };
  if (clean.message === message && clean.details === details) return undefined;
  return { ...clean, stack: redactor.redact(stack ?? '') };
}

/** One wrapper around every answer instead of two, which every call would pay for. */
export function bothRedactors(first: Redactor, second: Redactor): Redactor {
  return { add: (value) => second.add(value), ...both(first, second), except: (given) => both(first.except(given), second.except(given)) };
}

function both(first: Redacting, second: Redacting): Redacting {
  return {
    redact: (text) => second.redact(first.redact(text)),
    redactJson: (json) => second.redactJson(first.redactJson(json)),
    redactTexts: (texts) => second.redactTexts(first.redactTexts(texts)),
  };
}
