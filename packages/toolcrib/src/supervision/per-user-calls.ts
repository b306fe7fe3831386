import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { McpSession } from '../sources/mcp/mcp-session.ts';
import type { Standing } from '../sources/upstream/standing.ts';
import { createUserSessions, type TakenSession, type UserSessions } from './user-sessions.ts';

export interface PerUserCalls {
  /** How many sessions of users there are. */
  readonly open: number;
  /** From now on, until `close`. */
  start(): void;
  /** Which credential the caller has. Fails closed: who has none reaches nobody. */
  standingOf(principal: Principal): Standing | Promise<Standing>;
  /** The caller's session where it is there, for those who do not want to wait. */
  ready(standing: Standing | Promise<Standing>): TakenSession | undefined;
  /** A session of the caller's own. */
  take(principal: Principal, standing: Standing | Promise<Standing>, signal: AbortSignal): Promise<TakenSession>;
  /** Those that are kept open beyond a call. */
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
  standingOf(principal: Principal): Standing | Promise<Standing>;
  end(session: McpSession): void;
}

/** [MCP-5] [ID-6] How calls get their session where every user speaks for themselves: pooled for each, or a process for each call. */
export function createPerUserCalls({ longLived, open, standingOf, end }: PerUserCallsInput): PerUserCalls {
  let users: UserSessions | undefined;
  let running = false;
  let ofCalls = 0;
  return {
    get open() {
      return (users?.open ?? 0) + ofCalls;
    },
    start() {
      running = true;
      if (longLived) users ??= createUserSessions();
    },
    standingOf(principal) {
      const standing = standingOf(principal);
      // Whoever waits for it is told; a caller who has gone meanwhile is not.
      if (standing instanceof Promise) standing.catch(() => undefined);
      return standing;
    },
    ready: (standing) => (standing instanceof Promise ? undefined : users?.ready(standing)),
    async take(principal, asked, signal) {
      const standing = await asked;
      if (!running) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
      if (users !== undefined) return users.take(standing, (until) => open(until, principal), signal);
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
