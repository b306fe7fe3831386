import type { IncomingMessage } from 'node:http';
import type { createHostGuard } from './browser-guard.ts';

interface PlainHeadInput {
  guard: ReturnType<typeof createHostGuard>;
  bodyLimitBytes: number;
}

const path = '/api/bff/tools/call';
const jsonTypes = new Set(['application/json', 'application/json; charset=utf-8', 'application/json;charset=utf-8']);
/** With any of these a request is not a plain one: an answer in another form, one that is kept, a page of another origin, a trace. */
const unusual = ['idempotency-key', 'traceparent', 'origin', 'expect', 'content-encoding'];

/** Whether the head of a request says that it is a plain call. It knows no callers, so that threads that only speak HTTP can ask, too. */
export function createPlainHead({ guard, bodyLimitBytes }: PlainHeadInput): (request: IncomingMessage) => boolean {
  return function isPlain({ url, method, headers }) {
    if (url !== path || method !== 'POST') return false;
    if (!jsonTypes.has(headers['content-type'] ?? '') || headers.accept?.includes('text/event-stream') === true) return false;
    for (const name of unusual) if (headers[name] !== undefined) return false;
    const length = Number(headers['content-length'] ?? 0);
    return length > 0 && length <= bodyLimitBytes && guard(headers.host, undefined) === undefined;
  };
}
