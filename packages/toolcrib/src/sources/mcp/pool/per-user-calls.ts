import { CribError } from '../../../model/crib-error.ts';
import type { Principal } from '../../../model/principal.ts';
import type { McpSession } from '../session/mcp-session.ts';
import type { SessionKey } from '../../upstream/session-key.ts';
import { UserSessions, type TakenSession } from './user-sessions.ts';

export interface PerUserCalls {
  /** How many sessions of users there are. */
  readonly open: number;
  /** Allows calls from now on, until `close`. */
  start(): void;
  /** The caller's credential. A caller without one is refused. */
  sessionKeyOf(principal: Principal): SessionKey | Promise<SessionKey>;
  /** The caller's session where it is open, for callers who do not want to wait. */
  ready(sessionKey: SessionKey | Promise<SessionKey>): TakenSession | undefined;
  /** A session of the caller's own. */
  take(principal: Principal, sessionKey: SessionKey | Promise<SessionKey>, signal: AbortSignal): Promise<TakenSession>;
  /** Sessions that are kept open beyond a call. */
  readonly lasting: McpSession[];
  /** [ENV-1] None of these is taken again; each ends with the last call on it. */
  retire(outdated: ReadonlySet<McpSession>): void;
  endSessionsOf(owner: string): Promise<void>;
  close(): Promise<void>;
}

interface PerUserCallsInput {
  /** Whether a session lasts beyond its call. */
  longLived: boolean;
  open(signal: AbortSignal, principal: Principal): Promise<McpSession>;
  sessionKeyOf(principal: Principal): SessionKey | Promise<SessionKey>;
  end(session: McpSession): void;
}

/** [MCP-5] [ID-6] The sessions of calls where every user has a credential of their own: a pool for each user, or a process for each call. */
export function createPerUserCalls({ longLived, open, sessionKeyOf, end }: PerUserCallsInput): PerUserCalls {
  let users: UserSessions | undefined;
  let running = false;
  let ofCalls = 0;
  return {
    get open() {
      return (users?.open ?? 0) + ofCalls;
    },
    start() {
      running = true;
      if (longLived) users ??= new UserSessions();
    },
    sessionKeyOf(principal) {
      const sessionKey = sessionKeyOf(principal);
      // Its rejection reaches the caller who waits for it. If the caller has gone, nobody handles it.
      if (sessionKey instanceof Promise) sessionKey.catch(() => undefined);
      return sessionKey;
    },
    ready: (sessionKey) => (sessionKey instanceof Promise ? undefined : users?.ready(sessionKey)),
    async take(principal, asked, signal) {
      const sessionKey = await asked;
      if (!running) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
      if (users !== undefined) return users.take(sessionKey, (until) => open(until, principal), signal);
      const session = await open(signal, principal);
      ofCalls++;
      const giveBack = () => {
        ofCalls--;
        end(session);
      };
      return { session, reused: false, giveBack };
    },
    get lasting() {
      return users?.sessions ?? [];
    },
    retire: (outdated) => users?.retire(outdated),
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
