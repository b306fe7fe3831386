import { stringify } from 'yaml';
import type { Answer } from '../model/call.ts';
import type { Json } from '../model/json.ts';

type ShownAnswer = Pick<Answer, 'success' | 'structured_content' | 'text'> & { error: { message: string } | null };

/** Writing YAML takes hundreds of times as long as writing JSON, and everybody else would wait for it. */
const largestYaml = 16 * 1024;

/**
 * [EXEC-5] An answer as a model, or a person, reads it best: structured content as YAML, which takes fewer tokens than JSON and keeps texts
 * of several lines readable; otherwise the text. A failed call shows its error.
 */
export function formatForModel({ success, structured_content: structured, text, error }: ShownAnswer): string {
  if (!success) return error?.message ?? text;
  if (structured === null || structured === undefined) return text;
  const json = JSON.stringify(structured);
  // JSON is YAML too, if not the prettiest.
  return json.length > largestYaml ? json : (asYaml(structured) ?? json);
}

function asYaml(value: Json): string | undefined {
  try {
    // Quoted also where only readers of YAML 1.1 would take a text for something else: `yes`, `2026-11-16`, `007`.
    const written = stringify(value, { compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false });
    // An empty line at the end belongs to the last text.
    return written.replace(/(?<=\S)\n$/, '');
  } catch (error) {
    // Nested deeper than the writer of YAML can follow.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
