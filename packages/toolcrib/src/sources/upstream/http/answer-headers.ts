import type { HttpResponse } from '../../../net/http-exchange.ts';
import type { JsonObject } from '../../../model/json.ts';

/** The headers that are useful to a caller: no cookies, and none about the connection. */
const shown = new Set(['content-type', 'location', 'operation-location', 'etag', 'last-modified', 'link', 'retry-after', 'x-request-id']);
const longest = 2048;
const most = 24;

/** [HTTP-2] The response headers for the metadata of a result. */
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

/** Whether callers see the header with this lower-case name. */
export function isShownHeader(name: string): boolean {
  return shown.has(name) || name.startsWith('x-ratelimit-') || name.startsWith('ratelimit');
}
