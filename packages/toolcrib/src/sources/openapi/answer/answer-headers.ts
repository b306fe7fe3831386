import type { HttpResponse } from '../../../net/http-exchange.ts';
import type { JsonObject } from '../../../model/json.ts';

/** What tells a caller something about the answer; never cookies, and nothing about the connection. */
const shown = new Set(['content-type', 'location', 'operation-location', 'etag', 'last-modified', 'link', 'retry-after', 'x-request-id']);
const longest = 2048;
const most = 24;

/** [HTTP-2] What the metadata of an answer says of its exchange. */
export function answerHeaders({ headers }: Pick<HttpResponse, 'headers'>): JsonObject {
  const found: JsonObject = {};
  let count = 0;
  for (const name in headers) {
    if (!isShownHeader(name)) continue;
    const value = headers[name];
    if (value === undefined || ++count > most) continue;
    found[name] = (typeof value === 'string' ? value : value.join(', ')).slice(0, longest);
  }
  return found;
}

/** Whether callers are shown the header of this name, in small letters. */
export function isShownHeader(name: string): boolean {
  return shown.has(name) || name.startsWith('x-ratelimit-') || name.startsWith('ratelimit');
}
