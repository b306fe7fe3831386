import {
  isJSONRPCRequest,
  isJSONRPCResponse,
  type InputRequiredResult,
  type JSONRPCMessage,
  type RequestId,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';

const keyField = 'toolcrib-test/key';

/**
 * Where the SDK is going to send the requests of a result one by one, notes the name of each on it for `withNamedRequests()`. A client of
 * the revision without sessions reads the names itself.
 */
export function nameRequests<T extends object>(
  { envelope }: ServerContext['mcpReq'],
  result: T | InputRequiredResult,
): T | InputRequiredResult {
  if (envelope !== undefined || !('inputRequests' in result)) return result;
  const named = Object.entries(result.inputRequests ?? {}).map(([key, request]) => [
    key,
    { ...request, params: { ...request.params, _meta: { [keyField]: key } } },
  ]);
  return { ...result, inputRequests: Object.fromEntries(named) };
}

/**
 * Gives each named request its name as its JSON-RPC id. A gateway that turns requests into an `input_required` result has to find names for
 * them, and the id is what a server calls its request: so what the suite calls `user_name` is called that behind the gateway too.
 */
export function withNamedRequests(inner: Transport): Transport {
  /** By the name on the wire, the id that the SDK gave the request. */
  const numbers = new Map<RequestId, RequestId>();

  function outward(message: JSONRPCMessage): JSONRPCMessage {
    if (!isJSONRPCRequest(message)) return message;
    const { [keyField]: key, ..._meta } = (message.params?._meta ?? {}) as Record<string, unknown>;
    if (typeof key !== 'string') return message;
    const id = numbers.has(key) ? `${key}-${message.id}` : key;
    numbers.set(id, message.id);
    return { ...message, id, params: { ...message.params, _meta } };
  }

  function inward(message: JSONRPCMessage): JSONRPCMessage {
    if (!isJSONRPCResponse(message) || message.id === undefined) return message;
    const id = numbers.get(message.id);
    numbers.delete(message.id);
    return id === undefined ? message : { ...message, id };
  }

  const outer: Transport = {
    start: () => inner.start(),
    close: () => inner.close(),
    send: (message, options) => inner.send(outward(message), options),
    setSupportedProtocolVersions: (versions) => inner.setSupportedProtocolVersions?.(versions),
    get sessionId() {
      return inner.sessionId;
    },
  };
  inner.onclose = () => outer.onclose?.();
  inner.onerror = (error) => outer.onerror?.(error);
  inner.onmessage = (message, extra) => outer.onmessage?.(inward(message) as typeof message, extra);
  return outer;
}
