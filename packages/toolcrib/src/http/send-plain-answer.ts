import type { IncomingMessage, ServerResponse } from 'node:http';

const json = 'application/json; charset=utf-8';
/** The last two as `protect` sets them. */
const headers = ['content-type', json, 'cache-control', 'no-store', 'x-content-type-options', 'nosniff'];

/** Answers a plain call with JSON. */
export function sendPlainAnswer(request: IncomingMessage, response: ServerResponse, body: string): void {
  // Nothing is left to be read from it, and Node need not look.
  (request as { _dumped?: boolean })._dumped = true;
  response.writeHead(200, [...headers, 'content-length', String(Buffer.byteLength(body))]);
  response.end(body);
}
