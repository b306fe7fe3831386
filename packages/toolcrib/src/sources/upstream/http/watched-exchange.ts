import type { Redactor } from '../../../secrets/redactor.ts';
import { sessionWire } from '../logs/session-wire.ts';
import type { WireLog } from '../logs/wire-logs.ts';
import { answerHeaders } from './answer-headers.ts';
import type { BuiltRequest, SentRequest } from './send-request.ts';

/** [OPS-1] Logs a request before its credential is added, so that no line contains the credential. */
export function noteRequest(wireLog: WireLog, redactor: Redactor, origin: string, { method, target, headers, body }: BuiltRequest): void {
  sessionWire(wireLog, redactor).note('sent', { method, url: `${origin}${target}`, headers, body: shownBody(body) });
}

interface WatchedAnswer extends SentRequest {
  /** The redirects that were followed. */
  redirects: readonly object[];
}

export function noteAnswer(wireLog: WireLog, redactor: Redactor, { response, bytes, redirects }: WatchedAnswer): void {
  const { status } = response;
  const followed = redirects.length === 0 ? undefined : redirects;
  sessionWire(wireLog, redactor).note('received', {
    redirects: followed,
    status,
    headers: answerHeaders(response),
    body: shownBody(bytes),
  });
}

function shownBody(body: string | Buffer | undefined): string | undefined {
  if (body === undefined || typeof body === 'string') return body;
  const text = body.toString();
  return text.includes('\0') || text.includes('\ufffd') ? `(${body.length} bytes)` : text;
}

/** The attributes of a span for the target of a request. */
export function addressAttributes(origin: string): Record<string, string | number> {
  const { hostname, port, protocol } = new URL(origin);
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}
