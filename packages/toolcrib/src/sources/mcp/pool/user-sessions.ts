import { abortable } from '../../../resilience/abortable.ts';
import { CribError } from '../../../model/crib-error.ts';
import { NoCredentialError } from '../../../model/named-errors.ts';
import type { SessionKey } from '../../upstream/session-key.ts';
import type { McpSession } from '../session/mcp-session.ts';

type OpenSession = (signal: AbortSignal) => Promise<McpSession>;

export interface TakenSession {
  readonly session: McpSession;
  /** Whether it was open already. */
  readonly reused: boolean;
  giveBack(): void;
  /** Why it was ended during the call, where it was. */
  over?(): CribError | undefined;
}

interface UserSessionsInput {
  /** How long a session that nobody uses stays open. */
  idleMs?: number;
  most?: number;
  /** For one user, who may come with several tokens at once. */
  mostOfOne?: number;
}

const longestTimeoutMs = 2 ** 31 - 1;

/** [MCP-5] The sessions of a source with a credential per user: one for each user, never shared, and closed when it is not used. */
export class UserSessions {
  readonly #idleMs: number;
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #entries = new Map<string, Entry>();
  /** Replaced, with calls under way on them. */
  readonly #retired = new Set<Entry>();
  readonly #ending = new Set<Promise<void>>();
  #closed = false;

  constructor({ idleMs = 300_000, most = 256, mostOfOne = 16 }: UserSessionsInput = {}) {
    this.#idleMs = idleMs;
    this.#most = most;
    this.#mostOfOne = mostOfOne;
  }

  /** How many there are. */
  get open(): number {
    return this.#entries.size;
  }

  /** Those that are open. */
  get sessions(): McpSession[] {
    return [...this.#entries.values()].flatMap(({ taken }) => (taken === undefined ? [] : [taken.session]));
  }

  /** The same as `take`, where the session is open already. */
  ready(sessionKey: SessionKey): TakenSession | undefined {
    const entry = this.#closed ? undefined : this.#entries.get(sessionKey.key);
    if (entry?.taken?.session.connected !== true || entry.sessionKey.revision !== sessionKey.revision) return undefined;
    entry.users++;
    return entry.taken;
  }

  /** The session of this user under this revision of their credential; the first to ask opens it. Give it back when done. */
  async take(sessionKey: SessionKey, open: OpenSession, signal: AbortSignal): Promise<TakenSession> {
    if (this.#closed) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
    const { key, revision } = sessionKey;
    let entry = this.#entries.get(key);
    if (entry !== undefined && entry.sessionKey.revision !== revision) {
      void this.#drop(entry);
      entry = undefined;
    }
    const used = entry ?? this.#begin(sessionKey, open);
    used.users++;
    try {
      const session = await abortable(used.opening, signal);
      return { session, reused: entry !== undefined, giveBack: used.giveBack, over: () => used.over };
    } catch (error) {
      used.giveBack();
      throw used.over ?? error;
    }
  }

  /** [ENV-1] None of these is taken again; each ends with the last call on it. */
  retire(outdated: ReadonlySet<McpSession>): void {
    for (const [key, entry] of this.#entries) {
      if (entry.taken === undefined || !outdated.has(entry.taken.session)) continue;
      this.#entries.delete(key);
      if (entry.users === 0) void this.#drop(entry);
      else this.#retired.add(entry);
    }
  }

  /** The credential is gone or has changed: nothing that was opened with it is used again. */
  async end(owner: string): Promise<void> {
    const theirs = [...this.#entries.values(), ...this.#retired].filter(({ sessionKey }) => sessionKey.owner === owner);
    await Promise.all(theirs.map((entry) => this.#drop(entry)));
  }

  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#entries.values(), ...this.#retired].map((entry) => this.#drop(entry));
    await Promise.all([...all, ...this.#ending]);
  }

  #begin(sessionKey: SessionKey, open: OpenSession): Entry {
    this.#makeRoom(sessionKey);
    const entry = new Entry(sessionKey, open, {
      idleMs: this.#idleMs,
      isCurrent: (one) => this.#entries.get(sessionKey.key) === one,
      drop: (one) => void this.#drop(one),
    });
    this.#entries.set(sessionKey.key, entry);
    return entry;
  }

  #makeRoom({ owner }: SessionKey): void {
    const entries = [...this.#entries.values()];
    const own = entries.filter(({ sessionKey }) => sessionKey.owner === owner);
    const crowded = own.length >= this.#mostOfOne ? own : entries.length >= this.#most ? entries : undefined;
    if (crowded === undefined) return;
    const [unused] = crowded.filter(({ users }) => users === 0).toSorted((a, b) => a.lastUse - b.lastUse);
    if (unused !== undefined) return void this.#drop(unused);
    if (crowded === own) throw new CribError('RATE_LIMITED', `You use this source with ${this.#mostOfOne} tokens at once: use fewer`);
    throw new CribError('SERVICE_UNAVAILABLE', `${this.#most} users have a session with this source at the moment: try again`, {
      retryAfterMs: 1000,
    });
  }

  #drop(entry: Entry): Promise<void> {
    if (this.#entries.get(entry.sessionKey.key) === entry) this.#entries.delete(entry.sessionKey.key);
    this.#retired.delete(entry);
    const ended: Promise<void> = entry.close().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
    return ended;
  }
}

interface EntryInput {
  idleMs: number;
  /** Whether new calls take it. */
  isCurrent(entry: Entry): boolean;
  drop(entry: Entry): void;
}

/** One session of one user, and who uses it. */
class Entry {
  readonly sessionKey: SessionKey;
  readonly opening: Promise<McpSession>;
  /** Once it is open: the object that every caller gets, made once. */
  taken: TakenSession | undefined;
  users = 0;
  /** On the clock of `performance`. */
  lastUse = performance.now();
  over: CribError | undefined;
  readonly #input: EntryInput;
  readonly #aborted = new AbortController();
  #idle: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;

  constructor(sessionKey: SessionKey, open: OpenSession, input: EntryInput) {
    this.sessionKey = sessionKey;
    this.#input = input;
    this.opening = open(this.#aborted.signal);
    this.opening.then(
      (session) => {
        this.taken = { session, reused: true, giveBack: this.giveBack, over: () => this.over };
        session.onLost(() => input.drop(this));
      },
      // The next caller tries again.
      () => input.drop(this),
    );
    if (sessionKey.until !== Number.POSITIVE_INFINITY) this.#endInTime();
  }

  readonly giveBack = (): void => {
    this.users--;
    this.lastUse = performance.now();
    if (this.users > 0) return;
    if (!this.#input.isCurrent(this)) this.#input.drop(this);
    else if (this.#idle === undefined) this.#waitIdle();
  };

  /** Resolves when nothing of it is left. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    clearTimeout(this.#end);
    this.#aborted.abort(this.over ?? new CribError('SERVICE_UNAVAILABLE', 'The session of this user was ended'));
    await this.opening.then((session) => session.close()).catch(() => undefined);
  }

  /** Checks whether it was used when its idle time would be over, instead of setting a timer after every call. */
  #waitIdle(): void {
    if (this.#aborted.signal.aborted) return;
    const { idleMs, drop } = this.#input;
    this.#idle = setTimeout(
      () => {
        this.#idle = undefined;
        if (this.users > 0) return;
        if (performance.now() < this.lastUse + idleMs) this.#waitIdle();
        else drop(this);
      },
      this.lastUse + idleMs - performance.now(),
    );
    this.#idle.unref();
  }

  /** A session does not outlive the token it was opened with. */
  #endInTime(): void {
    const leftMs = Math.max(0, this.sessionKey.until - Date.now());
    this.#end = setTimeout(
      () => {
        const message = 'Your token expired before the call ended: get a new one, and call again';
        this.over = new NoCredentialError('UNAUTHENTICATED', message, { retryable: false });
        this.#input.drop(this);
      },
      Math.min(leftMs, longestTimeoutMs),
    );
    this.#end.unref();
  }
}
