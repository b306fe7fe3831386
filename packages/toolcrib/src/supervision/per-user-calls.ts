import { CribError } from '../model/crib-error.ts';
import type { McpSession } from '../sources/mcp/mcp-session.ts';
import type { CallContext } from '../sources/source.ts';
import { createUserSessions, type TakenSession, type UserSessions } from './user-sessions.ts';

export interface PerUserCalls {
  /** From now on, until `close`. */
  start(): void;
  /** A session of the caller's own. */
  take(context: CallContext): Promise<TakenSession>;
  endSessionsOf(owner: string): Promise<void>;
  close(): Promise<void>;
}

interface PerUserCallsInput {
  /** Whether a session lasts beyond its call. */
  longLived: boolean;
  open(signal: AbortSignal, owner: string): Promise<McpSession>;
  revisionOf(owner: string): Promise<string>;
  end(session: McpSession): void;
}

/** [MCP-5] [ID-6] How calls get their session where every user speaks for themselves: pooled for each, or a process for each call. */
export function createPerUserCalls({ longLived, open, revisionOf, end }: PerUserCallsInput): PerUserCalls {
  let users: UserSessions | undefined;
  let running = false;
  return {
    start() {
      running = true;
      if (longLived) users ??= createUserSessions({ open: (owner, signal) => open(signal, owner) });
    },
    async take({ principal: { key: owner }, signal }) {
      // Fails closed: who has no credential reaches nobody.
      const revision = await revisionOf(owner);
      if (!running) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
      if (users !== undefined) return users.take(owner, revision, signal);
      const session = await open(signal, owner);
      return { session, giveBack: () => end(session) };
    },
    async endSessionsOf(owner) {
      await users?.end(owner);
    },
    async close() {
      running = false;
      const closing = users;
      users = undefined;
      await closing?.close();
    },
  };
}
