import type { IncomingMessage, ServerResponse } from 'node:http';

const json = 'application/json; charset=utf-8';
/** As `protect` sets them. */
export const plainHeaders = ['cache-control', 'no-store', 'x-content-type-options', 'nosniff'];
const headers = ['content-type', json, ...plainHeaders];

/** Answers a plain call with JSON. */
export function sendPlainAnswer(request: IncomingMessage, response: ServerResponse, body: string): void {
  markRead(request);
  response.writeHead(200, [...headers, 'content-length', String(Buffer.byteLength(body))]);
  response.end(body);
}

/** Of a request whose body was taken: nothing is left to be read from it, and Node need not look. */
export function markRead(request: IncomingMessage): void {
  (request as { _dumped?: boolean })._dumped = true;
}
