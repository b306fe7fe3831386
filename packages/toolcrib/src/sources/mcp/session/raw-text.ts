import type { RawText, ToolOutput } from '../../../model/call.ts';

/** A shorter text is written again more quickly than it is found. */
const shortest = 1024;

/**
 * The JSON of the only text of an output, cut from the message that it came in: writing a large text as JSON again costs more than the rest
 * of its call. Undefined where it cannot be found at once.
 */
export function rawTextOf({ content }: ToolOutput, message: string): RawText | undefined {
  if (content.length !== 1 || message.length < shortest) return undefined;
  const { type, text } = content[0] ?? {};
  if (type !== 'text' || typeof text !== 'string' || text.length < shortest) return undefined;
  const json = stringAfter('"text":', message);
  return json !== undefined && isJsonOf(json, text) ? { text, json } : undefined;
}

/** The first string that follows the name. */
function stringAfter(name: string, message: string): string | undefined {
  const at = message.indexOf(name);
  if (at < 0) return undefined;
  const start = message.indexOf('"', at + name.length);
  for (let end = message.indexOf('"', start + 1); end >= 0; end = message.indexOf('"', end + 1)) {
    let escapes = 0;
    while (message[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return message.slice(start, end + 1);
  }
  return undefined;
}

function isJsonOf(json: string, text: string): boolean {
  // Without an escape, the string is what stands between the quotes.
  if (json.length === text.length + 2) return json.startsWith(text, 1) && !text.includes('\\');
  try {
    return JSON.parse(json) === text;
  } catch {
    return false;
  }
}
