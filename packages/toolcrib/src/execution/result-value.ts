import type { ContentBlock, ToolOutput } from '../model/call.ts';
import { parseExactJson } from '../model/exact-json.ts';
import type { Json } from '../model/json.ts';
import { maxDepth } from './weigh.ts';

/** [EXEC-2] All text blocks, joined. */
export function joinedText(content: readonly ContentBlock[]): string {
  if (content.length === 1) return textOf(content[0]) ?? '';
  return content
    .map(textOf)
    .filter((text) => text !== undefined)
    .join('\n');
}

/** [EXEC-2] The answer as one value: structured content if there is any, else what the text blocks say. */
export function resultValue(output: ToolOutput): Json {
  if (output.structured_content !== undefined && output.structured_content !== null) return output.structured_content;
  const values: Json[] = [];
  for (const block of output.content) {
    const text = textOf(block);
    if (text !== undefined) values.push(parsedText(text));
  }
  if (values.length === 0) return null;
  return values.length === 1 ? (values[0] as Json) : values;
}

function textOf(block: ContentBlock | undefined): string | undefined {
  return block?.type === 'text' && typeof block.text === 'string' ? block.text : undefined;
}

const mayBeJson = /^\s*[[{\d-]/;

/** JSON only where it is plainly meant: an object, a list, or a number that prints back identically. `"007"`, `"true"` and 20 digits stay text. */
function parsedText(text: string): Json {
  if (!mayBeJson.test(text)) return text;
  let value: Json;
  try {
    value = parseExactJson(text);
  } catch {
    return text;
  }
  if (typeof value === 'number') return String(value) === text ? value : text;
  if (typeof value !== 'object' || value === null) return text;
  return text.length > 2 * maxDepth && isDeeperThan(maxDepth, value) ? text : value;
}

function isDeeperThan(levels: number, value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}
