import type { Json, JsonObject } from '../../../model/json.ts';
import { ProtocolError } from '../../../model/named-errors.ts';
import type { SkippedTool } from './tool-definition.ts';

export interface ListLimits {
  maxPages: number;
  maxEntries: number;
  /** Of all pages together, as JSON. */
  maxBytes: number;
}

/**
 * [MCP-7] Every page of a list, up to the limits. A list that does not end is cut off and reported; the entries up to there are used.
 */
export async function listPages(
  fetchPage: (params: JsonObject) => Promise<JsonObject>,
  key: string,
  limits: ListLimits,
  onSkipped: (skipped: SkippedTool) => void,
): Promise<Json[]> {
  const entries: Json[] = [];
  const seen = new Set<Json>();
  let bytes = 0;
  let params: JsonObject = {};
  for (let pages = 1; ; pages++) {
    const page = await fetchPage(params);
    const found = page[key];
    if (!Array.isArray(found)) throw new ProtocolError(`The server answered a list without "${key}"`);
    for (const entry of found) {
      bytes += sizeOf(entry);
      if (entries.length >= limits.maxEntries || bytes > limits.maxBytes) return cutOff(`it is longer than ${entries.length} entries`);
      entries.push(entry);
    }
    const { nextCursor } = page;
    if (nextCursor === undefined || nextCursor === null) return entries;
    if (seen.has(nextCursor)) return cutOff('it begins again from an earlier page');
    if (pages >= limits.maxPages) return cutOff(`it has more than ${pages} pages`);
    seen.add(nextCursor);
    params = { cursor: nextCursor };
  }

  function cutOff(reason: string): Json[] {
    onSkipped({ name: '', reason: `The list of ${key} was cut off: ${reason}` });
    return entries;
  }
}

/** An entry that is nested too deeply to be written is refused later, when it is read. */
function sizeOf(entry: Json): number {
  try {
    return JSON.stringify(entry).length;
  } catch {
    return 0;
  }
}
