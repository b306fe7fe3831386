import type { Socket } from 'node:net';
import { CribError } from '../model/crib-error.ts';

/** What every listener for callers has in common. */
export const serverOptions = {
  // A client that sends its request byte by byte must not hold a connection for ever.
  requestTimeout: 60_000,
  keepAliveTimeout: 75_000,
  // A request without one is refused in our own form.
  requireHostHeader: false,
};

const unreadable: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The address and the headers are too large: is an argument in the address or the token too long?',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive',
};

/** Node's own parser refuses some requests before Fastify sees them. They get an answer in the same form. */
export function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(new CribError('VALIDATION_ERROR', unreadable[error.code ?? ''] ?? 'This is not valid HTTP'));
  const head = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json; charset=utf-8',
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\nconnection: close\r\n\r\n${body}`);
}
