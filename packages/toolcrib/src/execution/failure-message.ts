import type { ToolOutput } from '../model/call.ts';
import { isObject, type Json, type JsonObject } from '../model/json.ts';

const maxRawLength = 2000;

/** [EXEC-4] The message of a failed call: that of its structured content first, its text next, the raw result last. */
export function failureMessage(output: ToolOutput, text: string): string {
  const structured = asObject(output.structured_content);
  const message = messageIn(structured) || text || JSON.stringify(output).slice(0, maxRawLength);
  return message + suffix(structured);
}

function messageIn(structured: JsonObject | undefined): string {
  if (structured === undefined) return '';
  const nested = asObject(structured['error']);
  const candidates = [structured['message'], structured['error'], nested?.['message'], structured['detail']];
  return candidates.find((candidate): candidate is string => typeof candidate === 'string' && candidate !== '') ?? '';
}

/** `(code=E_TIMEOUT retriable=false)`, each part where it is known. */
function suffix(structured: JsonObject | undefined): string {
  if (structured === undefined) return '';
  const code = [structured['code'], structured['errorCode'], structured['statusCode']].find(
    (value): value is string | number => (typeof value === 'string' && value !== '') || typeof value === 'number',
  );
  const retriable = retriableIn(structured);
  const parts = [...(code === undefined ? [] : [`code=${code}`]), ...(retriable === undefined ? [] : [`retriable=${retriable}`])];
  return parts.length === 0 ? '' : ` (${parts.join(' ')})`;
}

/** Whether the tool itself says that the same call may work later. */
export function isRetriable(output: ToolOutput): boolean {
  const structured = asObject(output.structured_content);
  return structured !== undefined && retriableIn(structured) === true;
}

function retriableIn(structured: JsonObject): boolean | undefined {
  return asBoolean(structured['retriable']) ?? asBoolean(structured['retryable']);
}

function asBoolean(value: Json | undefined): boolean | undefined {
  const normalised = typeof value === 'string' ? value.toLowerCase() : value;
  if (normalised === true || normalised === 'true' || normalised === 'yes' || normalised === 1) return true;
  if (normalised === false || normalised === 'false' || normalised === 'no' || normalised === 0) return false;
  return undefined;
}

function asObject(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}
