import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { ProtocolError } from '../../../model/named-errors.ts';
import type { McpTransport } from '../session/mcp-transport.ts';
import { answeredId, invalidAnswer, problemOf } from './json-rpc.ts';

/** Hands over one message: first to ours, then to the SDK. */
export function receive(transport: McpTransport, message: JSONRPCMessage, relatedTo?: RequestId): void {
  if (transport.tap?.(message, relatedTo) !== true) transport.onmessage?.(message);
}

/**
 * Hands over everything in one piece of JSON: one message, or a batch as revisions before 2025-06-18 have them. True when the answer to
 * `request` was among it.
 */
export function receiveJson(transport: McpTransport, json: string, request?: RequestId): boolean {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw new ProtocolError('The server sent an invalid MCP message: it is not JSON', { cause });
  }
  let answered = false;
  for (const message of Array.isArray(value) ? value : [value]) {
    const problem = problemOf(message);
    const answers = answeredId(message);
    answered ||= request !== undefined && String(answers) === String(request);
    if (problem === null) receive(transport, message as JSONRPCMessage, request);
    else if (answers !== null) receive(transport, invalidAnswer(answers, problem), request);
    else transport.onerror?.(new ProtocolError(`The server sent an invalid MCP message: ${problem}`));
  }
  return answered;
}
