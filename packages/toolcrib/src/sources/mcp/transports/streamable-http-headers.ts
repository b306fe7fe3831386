import { PROTOCOL_VERSION_META_KEY, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { headerValue } from '../session/param-headers.ts';
import type { JoinHeaders } from '../../upstream/request-with-credentials.ts';

/** The parameter that the stateless revision repeats as `Mcp-Name` (SEP-2243). */
const named: Record<string, string> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' };

/** The headers that the stateless revision repeats from the message; none for messages of the handshake revisions. */
export function standardHeaders(message: JSONRPCMessage): Record<string, string> | undefined {
  if (!('method' in message)) return undefined;
  const { method, params } = message;
  const version = params?._meta?.[PROTOCOL_VERSION_META_KEY];
  if (typeof version !== 'string' || !('id' in message)) return undefined;
  const field = Object.hasOwn(named, method) ? named[method] : undefined;
  const name = field === undefined ? undefined : (params as Record<string, unknown>)[field];
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
  };
}

/** [OPS-1] The trace context of the message as headers, for proxies, which read only headers. */
export function traceHeaders(message: JSONRPCMessage): Record<string, string> | undefined {
  const meta = 'method' in message ? message.params?._meta : undefined;
  const { traceparent, tracestate } = (meta ?? {}) as Record<string, unknown>;
  if (typeof traceparent !== 'string') return undefined;
  return typeof tracestate === 'string' ? { traceparent, tracestate } : { traceparent };
}

/** Headers of the protocol, which neither a registration nor a call can replace. */
const reserved = new Set([
  'accept',
  'content-type',
  'content-length',
  'host',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'last-event-id',
]);

/** Registered headers in lower case, so that none is sent twice in two spellings. */
function plainHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(entries.filter(([name]) => !reserved.has(name)));
}

/** The headers of the protocol win over those of the source. */
export const protocolFirst: JoinHeaders = (own, request) => ({ ...plainHeaders(own), ...request });

export function sessionHeaders(sessionId: string | undefined, version: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  if (sessionId !== undefined) headers['mcp-session-id'] = sessionId;
  if (version !== undefined) headers['mcp-protocol-version'] = version;
  return headers;
}

const posted = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

interface PostedMessage {
  sessionId: string | undefined;
  version: string | undefined;
  /** Headers that the sender asks for; those of the protocol win. */
  asked: Readonly<Record<string, string>> | undefined;
  /** Headers that repeat parts of the message. */
  repeated: Readonly<Record<string, string>> | undefined;
}

/** The headers of posted messages. Those of most messages are the same, so they are made once. */
export class PostHeaders {
  #session: { sessionId: string | undefined; version: string | undefined; headers: Record<string, string> } | undefined;
  #joined:
    | { own: Readonly<Record<string, string>>; request: Readonly<Record<string, string>>; headers: Record<string, string> }
    | undefined;

  of({ sessionId, version, asked, repeated }: PostedMessage): Readonly<Record<string, string>> {
    if (this.#session === undefined || this.#session.sessionId !== sessionId || this.#session.version !== version) {
      this.#session = { sessionId, version, headers: { ...posted, ...sessionHeaders(sessionId, version) } };
    }
    const { headers } = this.#session;
    if (asked === undefined && repeated === undefined) return headers;
    return { ...(asked && plainHeaders(asked)), ...headers, ...repeated };
  }

  /** As `protocolFirst`. */
  readonly join: JoinHeaders = (own, request) => {
    if (request !== this.#session?.headers) return protocolFirst(own, request);
    if (this.#joined?.own !== own || this.#joined.request !== request)
      this.#joined = { own, request, headers: protocolFirst(own, request) };
    return this.#joined.headers;
  };
}
