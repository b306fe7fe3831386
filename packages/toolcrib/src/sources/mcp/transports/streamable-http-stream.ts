import type { RequestId } from '@modelcontextprotocol/client';
import { CribError } from '../../../model/crib-error.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { readEventStream } from '../../../net/read-event-stream.ts';
import { invalidAnswer, type McpTransport } from '../session/mcp-transport.ts';
import { receive, receiveJson } from './http-inbox.ts';

/** How far a stream has been read, and how long the server wants us to wait before we resume it (SEP-1699). */
export interface StreamPlace {
  lastEventId: string | undefined;
  retryMs: number | undefined;
}

/** After the answer nothing more comes, but a stream that ends by itself leaves its connection to the next request. */
const lingerMs = 1000;
const maxRetryMs = 60_000;

/** Reads one stream to its end. True when it had the answer to `request`, or something that must stand for the answer. */
export async function readMessageStream(
  transport: McpTransport,
  response: HttpResponse,
  options: { place: StreamPlace; maxBytes: number; request: RequestId | undefined },
): Promise<boolean> {
  const { place, maxBytes, request } = options;
  let answered = false;
  let fault: CribError | undefined;
  let linger: NodeJS.Timeout | undefined;
  try {
    for await (const { event, data, id, retryMs } of readEventStream(response.body, maxBytes)) {
      if (id !== undefined) place.lastEventId = id;
      if (retryMs !== undefined) place.retryMs = Math.min(retryMs, maxRetryMs);
      if (data === '' || event !== 'message') continue;
      try {
        answered = receiveJson(transport, data, request) || answered;
      } catch (error) {
        fault = asFault(error);
        transport.onerror?.(fault);
      }
      if (answered) linger ??= setTimeout(() => response.body.destroy(), lingerMs);
    }
  } catch (error) {
    // The connection was cut, and the caller sees that there is no answer; or a message was too large.
    if (error instanceof CribError) fault = error;
  } finally {
    clearTimeout(linger);
  }
  if (answered || fault === undefined || request === undefined) return answered;
  // [ERR-9] The unreadable message was most likely the answer.
  receive(transport, invalidAnswer(request, fault.message), request);
  return true;
}

function asFault(error: unknown): CribError {
  return error instanceof CribError ? error : new CribError('INTERNAL', 'A message could not be delivered', { cause: error });
}
