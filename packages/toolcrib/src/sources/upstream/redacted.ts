import type { ContentBlock, ToolOutput } from '../../model/call.ts';
import type { CribError } from '../../model/crib-error.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { Redactor } from '../../secrets/redactor.ts';

type Redacting = ReturnType<Redactor['except']>;

/**
 * [ENV-4] The output without known secrets; the same object if it has none. Values that the caller has `given` stay: redacting a guess that
 * a tool repeats would confirm it.
 */
export function redactOutput(output: ToolOutput, redactor: Redactor, given?: JsonObject): ToolOutput {
  const clean = cleanOutput(output, redactor);
  return clean === output || given === undefined ? clean : cleanOutput(output, redactor.except(given));
}

export function redactJsonFor(json: Json, redactor: Redactor, given?: JsonObject): Json {
  const clean = redactor.redactJson(json);
  return clean === json || given === undefined ? clean : redactor.except(given).redactJson(json);
}

/** Changes the texts of the error but not its class, which decides whether a call is retried. */
export function redactError(error: CribError, redactor: Redactor, given?: JsonObject): CribError {
  const clean = cleanError(error, redactor);
  if (clean === undefined) return error;
  return Object.assign(error, given === undefined ? clean : cleanError(error, redactor.except(given)));
}

function cleanOutput(output: ToolOutput, redactor: Redacting): ToolOutput {
  const content = redactor.redactJson(redactAcross(output.content, redactor) as Json) as ContentBlock[];
  const structured = output.structured_content === undefined ? undefined : redactor.redactJson(output.structured_content);
  // The `_meta` of a result, and the data of a JSON-RPC error.
  const metadata = output.metadata && (redactor.redactJson(output.metadata) as JsonObject);
  if (content === output.content && structured === output.structured_content && metadata === output.metadata) return output;
  return { ...output, content, ...(structured !== undefined && { structured_content: structured }), ...(metadata && { metadata }) };
}

/** A server may return a text in pieces, one per block, and its reader joins them: a secret may lie across blocks. */
function redactAcross(content: ContentBlock[], redactor: Redacting): ContentBlock[] {
  if (content.length < 2) return content;
  const texts = content.map((block) => (block.type === 'text' ? (block.text ?? '') : ''));
  const clean = redactor.redactTexts(texts);
  return clean === texts
    ? content
    : content.map((block, index) => (block.type === 'text' ? { ...block, text: clean[index] ?? '' } : block));
}

function cleanError({ message, summary, lastWords, details, stack }: CribError, redactor: Redacting): Partial<CribError> | undefined {
  const clean = { message: redactor.redact(message), details: details === undefined ? undefined : redactor.redactJson(details) };
  if (clean.message === message && clean.details === details) return undefined;
  return {
    ...clean,
    ...(summary !== undefined && { summary: redactor.redact(summary) }),
    ...(lastWords && { lastWords: lastWords.map((line) => redactor.redact(line)) }),
    stack: redactor.redact(stack ?? ''),
  };
}

/** Combines two redactors. New values are added to the second. */
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
