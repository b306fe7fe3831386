import { PROTOCOL_VERSION_META_KEY, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { headerValue } from '../session/param-headers.ts';
import type { JoinHeaders } from '../../upstream/request-with-credentials.ts';

/** The parameter that the stateless revision repeats as `Mcp-Name` (SEP-2243). */
const named: Record<string, string> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' };

/** The headers that repeat parts of the message; none for messages of the handshake revisions. */
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
export function plainHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(entries.filter(([name]) => !reserved.has(name)));
}

/** The headers of the protocol win over those of the source. */
export const protocolFirst: JoinHeaders = (own, request) => ({ ...plainHeaders(own), ...request });
