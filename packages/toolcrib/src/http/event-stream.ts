import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';

/** A client this far behind is not reading: its stream is closed rather than kept in memory. */
const maxBufferedBytes = 4 * 1024 * 1024;

export interface EventStream {
  readonly closed: boolean;
  /** `id` is what the client sends back as Last-Event-ID when it reconnects. */
  send(event: string, data: unknown, id?: string): void;
  onClose(listener: () => void): void;
  close(): void;
}

/** Answers with server-sent events. From here on the reply belongs to the stream. */
export function openEventStream(reply: FastifyReply, headers: Record<string, string> = {}): EventStream {
  reply.hijack();
  const response = reply.raw;
  response.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream; charset=utf-8',
    // Proxies that collect an answer before passing it on would make a stream pointless.
    'x-accel-buffering': 'no',
    ...headers,
  });
  response.flushHeaders();
  return {
    get closed() {
      return response.destroyed || response.writableEnded;
    },
    send(event, data, id) {
      if (response.destroyed || response.writableEnded) return;
      if (response.writableLength > maxBufferedBytes) {
        response.destroy();
        return;
      }
      // JSON has no raw line breaks, so one data line is always enough.
      response.write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    },
    onClose: (listener) => void response.on('close', listener),
    close: () => void response.end(),
  };
}
