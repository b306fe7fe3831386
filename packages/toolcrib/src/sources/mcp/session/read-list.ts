import { isObject, type JsonObject } from '../../../model/json.ts';
import { ProtocolError } from '../../../model/named-errors.ts';
import type { ListLimits } from './list-pages.ts';

/** The lists of a server beside its tools, by the method that reads them, with the field that holds the entries. */
export const listFields: Readonly<Record<string, string>> = {
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
};

/** Reads a list to its end, or to its limits: a server may have pages without end. */
export async function readList(
  field: string,
  page: (params: JsonObject) => Promise<JsonObject>,
  { maxPages, maxEntries }: ListLimits,
): Promise<JsonObject[]> {
  const entries: JsonObject[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < maxPages && entries.length < maxEntries; pages++) {
    const { [field]: found, nextCursor } = await page(cursor === undefined ? {} : { cursor });
    if (!Array.isArray(found)) throw new ProtocolError(`The server answered without its ${field}`);
    entries.push(...found.filter(isObject));
    if (typeof nextCursor !== 'string' || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  return entries.slice(0, maxEntries);
}
