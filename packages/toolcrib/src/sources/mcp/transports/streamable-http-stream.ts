import type { RequestId } from '@modelcontextprotocol/client';
import { CribError } from '../../../model/crib-error.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { createEventParser, type StreamEvent } from '../../../net/read-event-stream.ts';
import { invalidAnswer, type McpTransport } from '../session/mcp-transport.ts';
import { receive, receiveJson } from './http-inbox.ts';

/** How far a stream has been read, and how long the server wants us to wait before we resume it (SEP-1699). */
export interface StreamPlace {
  lastEventId: string | undefined;
  retryMs: number | undefined;
}

interface MessageStream {
  place: StreamPlace;
  maxBytes: number;
  request: RequestId | undefined;
  /** Called at the end of the stream. True when it had the answer to `request`, or something that must stand for the answer. */
  onEnd(answered: boolean): void;
}

/** After the answer nothing more comes, but a stream that ends by itself leaves its connection to the next request. */
const lingerMs = 1000;
const maxRetryMs = 60_000;

/** Reads one stream to its end. */
export function readMessageStream(transport: McpTransport, { body }: HttpResponse, stream: MessageStream): void {
  const { place, request, onEnd } = stream;
  const parse = createEventParser(stream.maxBytes);
  let answered = false;
  let fault: CribError | undefined;
  let linger: NodeJS.Timeout | undefined;

  function take({ event, data, id, retryMs }: StreamEvent): void {
    if (id !== undefined) place.lastEventId = id;
    if (retryMs !== undefined) place.retryMs = Math.min(retryMs, maxRetryMs);
    if (data === '' || event !== 'message') return;
    try {
      answered = receiveJson(transport, data, request) || answered;
    } catch (error) {
      fault = asFault(error);
      transport.onerror?.(fault);
    }
    if (answered) linger ??= setTimeout(() => body.destroy(), lingerMs);
  }

  function onChunk(chunk: Buffer): void {
    let events: StreamEvent[];
    try {
      events = parse(chunk);
    } catch (error) {
      // A message was too large.
      fault = asFault(error);
      return body.destroy();
    }
    for (const event of events) take(event);
  }

  // Where the connection was cut, the owner sees that there is no answer.
  body.forEach(onChunk, () => {
    clearTimeout(linger);
    const standsIn = !answered && fault !== undefined && request !== undefined;
    // [ERR-9] The unreadable message was most likely the answer.
    if (standsIn) receive(transport, invalidAnswer(request, fault?.message ?? ''), request);
    onEnd(answered || standsIn);
  });
}

function asFault(error: unknown): CribError {
  return error instanceof CribError ? error : new CribError('INTERNAL', 'A message could not be delivered', { cause: error });
}
