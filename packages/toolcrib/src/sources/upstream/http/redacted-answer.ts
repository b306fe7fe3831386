import type { ToolOutput } from '../../../model/call.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { Redactor } from '../../../secrets/redactor.ts';
import { redactJsonFor, redactOutput } from '../redacted.ts';

/** [ENV-4] Redacts the output and its metadata: a service may have put a key into a link. */
export function redactedAnswer(output: ToolOutput, redactor: Redactor, given?: JsonObject): ToolOutput {
  const clean = isClean(output, redactor) ? output : redactOutput(output, redactor, given);
  const metadata = redactJsonFor(clean.metadata ?? null, redactor, given) as JsonObject | null;
  return metadata === null || metadata === clean.metadata ? clean : { ...clean, metadata };
}
/** JSON text without escapes contains its strings as they are: if the text has no secret, neither has the structured content. */
function isClean({ content }: ToolOutput, redactor: Redactor): boolean {
  const [only] = content;
  if (content.length !== 1 || only?.type !== 'text' || only.text === undefined) return false;
  return !only.text.includes('\\') && redactor.redact(only.text) === only.text;
}
