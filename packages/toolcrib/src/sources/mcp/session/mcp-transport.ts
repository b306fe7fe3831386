import type { JSONRPCMessage, RequestId, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import type { EndSignal } from '../../../model/end-signal.ts';
import type { SessionLoss } from './session-loss.ts';

/** Sees every incoming message before the SDK does. */
export interface Tap {
  /**
   * True keeps the message from the SDK. `relatedTo` is the request on whose own stream it came, where the transport has such streams; `json`
   * is the text that the message was read from, where it is one.
   */
  take(message: JSONRPCMessage, relatedTo?: RequestId, json?: string): boolean;
}

/** As in the SDK, except for the signal that gives up a request. */
export interface McpSendOptions extends Omit<TransportSendOptions, 'requestSignal'> {
  requestSignal?: EndSignal | undefined;
}

export interface McpPostOptions extends McpSendOptions {
  /** The message as JSON, where the caller has it already. */
  json?: string | undefined;
}

/** Carries a session: the SDK's port, and what the SDK does not need to know. */
export interface McpTransport extends Transport {
  send(message: JSONRPCMessage, options?: McpSendOptions): Promise<void>;
  tap: Tap | undefined;
  /**
   * `send` without a promise: throws where the message is not accepted, and calls `failed` once where `send` would reject later. A transport
   * over pipes ignores the options, as `send` does.
   */
  post?(message: JSONRPCMessage, options?: McpPostOptions, failed?: (error: unknown) => void): void;
  /** True where the transport exists in the handshake revisions only, so that probing for another would waste time. */
  readonly legacyOnly?: boolean;
  /** Set before `onclose` is called where it ended by itself; undefined where we have closed it. */
  readonly loss?: SessionLoss | undefined;
}

/** The SDK recognises a child process by these two members; so do we. */
export function isChildProcess(transport: McpTransport): boolean {
  return 'stderr' in transport && 'pid' in transport;
}

/** JSON-RPC's "internal error". */
const internalError = -32603;
const standIns = new WeakSet<object>();

/** [ERR-9] Stands for an unreadable answer, so that its caller fails at once and not at the deadline. */
export function invalidAnswer(id: string | number, problem: string): JSONRPCMessage {
  const message = `The server sent an invalid MCP message: ${problem}`;
  const standIn: JSONRPCMessage = { jsonrpc: '2.0', id, error: { code: internalError, message } };
  standIns.add(standIn);
  return standIn;
}

/** Whether an error answer is ours, and not the server's own. */
export function isStandIn(message: object): boolean {
  return standIns.has(message);
}
