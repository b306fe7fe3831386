import { CribError } from '../model/crib-error.ts';
import type { McpSession } from '../sources/mcp/mcp-session.ts';
import { abortable } from '../model/abortable.ts';

export interface UserSessions {
  /** The session of this user under this revision of their credential; opened by whoever asks first. Give it back when done. */
  take(owner: string, revision: string, signal: AbortSignal): Promise<TakenSession>;
  /** The credential is gone, or another: nothing that was opened with it is used again. */
  end(owner: string): Promise<void>;
  close(): Promise<void>;
}

export interface TakenSession {
  readonly session: McpSession;
  giveBack(): void;
}

interface UserSessionsInput {
  open(owner: string, signal: AbortSignal): Promise<McpSession>;
  idleMs?: number;
  most?: number;
}

interface Entry {
  owner: string;
  revision: string;
  opening: Promise<McpSession>;
  users: number;
  idle: NodeJS.Timeout | undefined;
  aborted: AbortController;
}

/** [MCP-5] Sessions of a source to which every user speaks for themselves: one for each, never shared, and gone when it is not used. */
export function createUserSessions({ open, idleMs = 300_000, most = 256 }: UserSessionsInput): UserSessions {
  /** In the order of their last use, the longest ago first. */
  const entries = new Map<string, Entry>();
  const ending = new Set<Promise<void>>();
  let closed = false;

  function begin(owner: string, revision: string): Entry {
    makeRoom();
    const aborted = new AbortController();
    const entry: Entry = { owner, revision, opening: open(owner, aborted.signal), users: 0, idle: undefined, aborted };
    entry.opening.then(
      (session) => session.onLost(() => void drop(entry)),
      // The next caller tries again.
      () => drop(entry),
    );
    entries.set(owner, entry);
    return entry;
  }

  function makeRoom(): void {
    if (entries.size < most) return;
    for (const entry of entries.values()) if (entry.users === 0) return void drop(entry);
    throw new CribError('SERVICE_UNAVAILABLE', `${most} users speak to this source at this moment: try again`, { retryAfterMs: 1000 });
  }

  function drop(entry: Entry): Promise<void> {
    if (entries.get(entry.owner) === entry) entries.delete(entry.owner);
    clearTimeout(entry.idle);
    entry.aborted.abort(new CribError('SERVICE_UNAVAILABLE', 'The session of this user was ended'));
    const ended: Promise<void> = entry.opening
      .then((session) => session.close())
      .catch(() => undefined)
      .finally(() => ending.delete(ended));
    ending.add(ended);
    return ended;
  }

  return {
    async take(owner, revision, signal) {
      if (closed) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
      let entry = entries.get(owner);
      if (entry !== undefined && entry.revision !== revision) {
        void drop(entry);
        entry = undefined;
      }
      const used = entry ?? begin(owner, revision);
      entries.delete(owner);
      entries.set(owner, used);
      clearTimeout(used.idle);
      used.users++;
      const giveBack = () => {
        used.users--;
        if (used.users > 0) return;
        used.idle = setTimeout(() => void drop(used), idleMs);
        used.idle.unref();
      };
      try {
        return { session: await abortable(used.opening, signal), giveBack };
      } catch (error) {
        giveBack();
        throw error;
      }
    },
    async end(owner) {
      const entry = entries.get(owner);
      if (entry !== undefined) await drop(entry);
    },
    async close() {
      closed = true;
      await Promise.all([...[...entries.values()].map(drop), ...ending]);
    },
  };
}
