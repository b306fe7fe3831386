import type { JSONRPCMessage, RequestId, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import type { CribError } from '../../../model/crib-error.ts';
import type { EndSignal } from '../../../model/end-signal.ts';

/**
 * Sees every incoming message before the SDK does, and takes it by answering true. `relatedTo` is the request on whose own stream the
 * message came, where the transport has such streams.
 */
export type Tap = (message: JSONRPCMessage, relatedTo?: RequestId) => boolean;

/** As the SDK has them, but for what is given up. */
export interface McpSendOptions extends Omit<TransportSendOptions, 'requestSignal'> {
  requestSignal?: EndSignal | undefined;
}

/** What carries a session: the SDK's port, and what the SDK does not need to know. */
export interface McpTransport extends Transport {
  send(message: JSONRPCMessage, options?: McpSendOptions): Promise<void>;
  tap: Tap | undefined;
  /** `send` without a promise, where a message is taken at once or not at all: throws where it is not. */
  post?(message: JSONRPCMessage): void;
  /** True where the transport itself belongs to the handshake revisions, so that probing for another would only cost time. */
  readonly legacyOnly?: boolean;
  /** Why it ended, once it has ended by itself: with the last lines of stderr, for instance. */
  lossReason?(): CribError | undefined;
}

/** The SDK takes a transport for a child process by these two members; so do we. */
export function isChildProcess(transport: McpTransport): boolean {
  return 'stderr' in transport && 'pid' in transport;
}
