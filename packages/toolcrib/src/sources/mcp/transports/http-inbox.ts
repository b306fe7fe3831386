import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { ProtocolError } from '../../../model/named-errors.ts';
import { invalidAnswer, type McpTransport } from '../session/mcp-transport.ts';
import { answeredId, problemOf } from './message-reader.ts';

const byteOrderMark = 0xfeff;

/** Delivers one message: to the tap first, then to the SDK. */
export function receive(transport: McpTransport, message: JSONRPCMessage, relatedTo?: RequestId, json?: string): void {
  if (transport.tap?.take(message, relatedTo, json) !== true) transport.onmessage?.(message);
}

/**
 * Delivers the messages in one JSON text: one, or a batch as in revisions before 2025-06-18. True when the answer to `request` was among
 * them.
 */
export function receiveJson(transport: McpTransport, json: string, request?: RequestId): boolean {
  let value: unknown;
  try {
    value = JSON.parse(json.codePointAt(0) === byteOrderMark ? json.slice(1) : json);
  } catch (cause) {
    throw new ProtocolError('The server sent an invalid MCP message: it is not JSON', { cause });
  }
  let answered = false;
  for (const message of Array.isArray(value) ? value : [value]) {
    const problem = problemOf(message);
    const answers = answeredId(message);
    answered ||= request !== undefined && String(answers) === String(request);
    if (problem === null) receive(transport, message as JSONRPCMessage, request, message === value ? json : undefined);
    else if (answers !== null) receive(transport, invalidAnswer(answers, problem), request);
    else transport.onerror?.(new ProtocolError(`The server sent an invalid MCP message: ${problem}`));
  }
  return answered;
}
