import type { IncomingMessage } from 'node:http';
import type { createHostGuard } from './browser-guard.ts';

export interface PlainPostInput {
  guard: ReturnType<typeof createHostGuard>;
  bodyLimitBytes: number;
}

const path = '/api/bff/tools/call';
const jsonTypes = new Set(['application/json', 'application/json; charset=utf-8', 'application/json;charset=utf-8']);
/** With any of these a request is not a plain one: an answer in another form, one that is kept, a page of another origin, a trace. */
const unusual = ['idempotency-key', 'traceparent', 'origin', 'expect', 'content-encoding'];

/** Whether the head of a request says that it is a plain call. It knows no callers, so that threads that only speak HTTP can ask, too. */
export function createPlainHead(input: PlainPostInput): (request: IncomingMessage) => boolean {
  return (request) => request.url === path && request.headers.accept?.includes('text/event-stream') !== true && isPlainPost(input, request);
}

/** Whether the head of a request says nothing but that JSON is posted, which may be read at once. */
export function isPlainPost({ guard, bodyLimitBytes }: PlainPostInput, { method, headers }: IncomingMessage): boolean {
  if (method !== 'POST' || !jsonTypes.has(headers['content-type'] ?? '')) return false;
  for (const name of unusual) if (headers[name] !== undefined) return false;
  const length = Number(headers['content-length'] ?? 0);
  return length > 0 && length <= bodyLimitBytes && guard(headers.host, undefined) === undefined;
}
