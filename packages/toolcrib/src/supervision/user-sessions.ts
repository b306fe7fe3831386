import { abortable } from '../model/abortable.ts';
import { CribError } from '../model/crib-error.ts';
import { NoCredentialError } from '../model/named-errors.ts';
import type { McpSession } from '../sources/mcp/mcp-session.ts';
import type { Standing } from '../sources/upstream/standing.ts';

export interface UserSessions {
  /** How many there are. */
  readonly open: number;
  /** The same as `take`, where it is there already. */
  ready(standing: Standing): TakenSession | undefined;
  /** The session of this user under this revision of their credential; opened by whoever asks first. Give it back when done. */
  take(standing: Standing, open: OpenSession, signal: AbortSignal): Promise<TakenSession>;
  /** Those that are open. */
  readonly sessions: McpSession[];
  /** [ENV-1] None of these is taken again; each ends with the last call on it. */
  retire(outdated: ReadonlySet<McpSession>): void;
  /** The credential is gone, or another: nothing that was opened with it is used again. */
  end(owner: string): Promise<void>;
  close(): Promise<void>;
}

type OpenSession = (signal: AbortSignal) => Promise<McpSession>;

export interface TakenSession {
  readonly session: McpSession;
  /** Whether it was there already, and need not be opened. */
  readonly reused: boolean;
  giveBack(): void;
  /** Why it was ended under the hands of its user, where it was. */
  over?(): CribError | undefined;
}

interface UserSessionsInput {
  idleMs?: number;
  most?: number;
  /** For one user, who may come with several tokens at once. */
  mostOfOne?: number;
}

interface Entry {
  standing: Standing;
  opening: Promise<McpSession>;
  /** Once it is open: what everybody gets who takes it, made once, because there is a call again and again. */
  taken: TakenSession | undefined;
  giveBack(): void;
  users: number;
  /** On the clock of `performance`. */
  lastUse: number;
  idle: NodeJS.Timeout | undefined;
  end: NodeJS.Timeout | undefined;
  over: CribError | undefined;
  aborted: AbortController;
}

const longestTimeoutMs = 2 ** 31 - 1;

/** [MCP-5] Sessions of a source to which every user speaks for themselves: one for each, never shared, and gone when it is not used. */
export function createUserSessions({ idleMs = 300_000, most = 256, mostOfOne = 16 }: UserSessionsInput = {}): UserSessions {
  const entries = new Map<string, Entry>();
  /** Out of use, with calls under way on them. */
  const retired = new Set<Entry>();
  const ending = new Set<Promise<void>>();
  let closed = false;

  function begin(standing: Standing, open: OpenSession): Entry {
    makeRoom(standing);
    const aborted = new AbortController();
    const entry: Entry = {
      standing,
      opening: open(aborted.signal),
      taken: undefined,
      giveBack() {
        entry.users--;
        entry.lastUse = performance.now();
        if (entry.users > 0) return;
        if (entries.get(standing.key) !== entry) void drop(entry);
        else if (entry.idle === undefined) waitIdle(entry);
      },
      users: 0,
      lastUse: performance.now(),
      idle: undefined,
      end: undefined,
      over: undefined,
      aborted,
    };
    entry.opening.then(
      (session) => {
        entry.taken = { session, reused: true, giveBack: entry.giveBack, over: () => entry.over };
        session.onLost(() => void drop(entry));
      },
      // The next caller tries again.
      () => drop(entry),
    );
    if (standing.until !== Number.POSITIVE_INFINITY) endInTime(entry);
    entries.set(standing.key, entry);
    return entry;
  }

  /** Looks when its time would be over, and not after every call, whether it has been used since. */
  function waitIdle(entry: Entry): void {
    if (entry.aborted.signal.aborted) return;
    const leftMs = entry.lastUse + idleMs - performance.now();
    entry.idle = setTimeout(() => {
      entry.idle = undefined;
      if (entry.users > 0) return;
      if (performance.now() < entry.lastUse + idleMs) waitIdle(entry);
      else void drop(entry);
    }, leftMs);
    entry.idle.unref();
  }

  /** What was opened with a token does not outlive it. */
  function endInTime(entry: Entry): void {
    const leftMs = Math.max(0, entry.standing.until - Date.now());
    entry.end = setTimeout(
      () => {
        entry.over = new NoCredentialError('UNAUTHENTICATED', 'Your token has ended before the call did: get a new one, and call again', {
          retryable: false,
        });
        void drop(entry);
      },
      Math.min(leftMs, longestTimeoutMs),
    );
    entry.end.unref();
  }

  function makeRoom({ owner }: Standing): void {
    const own = [...entries.values()].filter(({ standing }) => standing.owner === owner);
    const crowded = own.length >= mostOfOne ? own : entries.size >= most ? [...entries.values()] : undefined;
    if (crowded === undefined) return;
    const [unused] = crowded.filter(({ users }) => users === 0).toSorted((a, b) => a.lastUse - b.lastUse);
    if (unused !== undefined) return void drop(unused);
    if (crowded === own) throw new CribError('RATE_LIMITED', `You speak to this source with ${mostOfOne} tokens at once: use fewer`);
    throw new CribError('SERVICE_UNAVAILABLE', `${most} users speak to this source at this moment: try again`, { retryAfterMs: 1000 });
  }

  function drop(entry: Entry): Promise<void> {
    if (entries.get(entry.standing.key) === entry) entries.delete(entry.standing.key);
    retired.delete(entry);
    clearTimeout(entry.idle);
    clearTimeout(entry.end);
    entry.aborted.abort(entry.over ?? new CribError('SERVICE_UNAVAILABLE', 'The session of this user was ended'));
    const ended: Promise<void> = entry.opening
      .then((session) => session.close())
      .catch(() => undefined)
      .finally(() => ending.delete(ended));
    ending.add(ended);
    return ended;
  }

  return {
    get open() {
      return entries.size;
    },
    ready(standing) {
      const entry = closed ? undefined : entries.get(standing.key);
      if (entry?.taken?.session.connected !== true || entry.standing.revision !== standing.revision) return undefined;
      entry.users++;
      return entry.taken;
    },
    async take(standing, open, signal) {
      if (closed) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
      const { key, revision } = standing;
      let entry = entries.get(key);
      if (entry !== undefined && entry.standing.revision !== revision) {
        void drop(entry);
        entry = undefined;
      }
      const used = entry ?? begin(standing, open);
      used.users++;
      try {
        const session = await abortable(used.opening, signal);
        return { session, reused: entry !== undefined, giveBack: used.giveBack, over: () => used.over };
      } catch (error) {
        used.giveBack();
        throw used.over ?? error;
      }
    },
    get sessions() {
      return [...entries.values()].flatMap(({ taken }) => (taken === undefined ? [] : [taken.session]));
    },
    retire(outdated) {
      for (const [key, entry] of entries) {
        if (entry.taken === undefined || !outdated.has(entry.taken.session)) continue;
        entries.delete(key);
        if (entry.users === 0) void drop(entry);
        else retired.add(entry);
      }
    },
    async end(owner) {
      await Promise.all([...entries.values(), ...retired].filter(({ standing }) => standing.owner === owner).map(drop));
    },
    async close() {
      closed = true;
      await Promise.all([...[...entries.values(), ...retired].map(drop), ...ending]);
    },
  };
}
