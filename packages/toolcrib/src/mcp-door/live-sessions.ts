import { randomUUID } from 'node:crypto';
import type { Principal } from '../model/principal.ts';
import { RecentMap } from '../model/recent-map.ts';
import type { DoorMail } from './door-mail.ts';
import type { DoorParts } from './door-parts.ts';
import { LiveSession } from './live-session.ts';
import { DoorError, rpcCodes } from './rpc.ts';
import { longestSessionMs, openSessionId, sealSessionId, type SessionTerms } from './session-id.ts';

/** A session that was not used for longer than this many others loses what this server holds of it, and goes on. */
const mostSessions = 20_000;
/** Of one person: the one that was opened first makes room. */
const mostOfOne = 1000;
const idleMs = 3_600_000;
const sweepMs = 300_000;

interface LiveSessionsInput {
  parts: Pick<DoorParts, 'seals' | 'store'>;
  mail: DoorMail;
}

/** [DOOR-4] The sessions that this server has served lately. */
export class LiveSessions {
  readonly #input: LiveSessionsInput;
  /** By id. */
  readonly #sessions = new RecentMap<LiveSession>(mostSessions, undefined, (session) => this.#forgotten(session));
  readonly #byNonce = new Map<string, LiveSession>();
  readonly #byOwner = new Map<string, Set<LiveSession>>();
  /** Sessions of which it is being asked whether they have ended. */
  readonly #asked = new Map<string, Promise<LiveSession | undefined>>();
  /** Those whose end came while it was asked. */
  readonly #endedLately = new RecentMap<true>(mostSessions);

  constructor(input: LiveSessionsInput) {
    this.#input = input;
    setInterval(() => this.#sweep(), sweepMs).unref();
    input.mail.on('end', ({ session }) => this.#endHere(session));
  }

  get size(): number {
    return this.#sessions.size;
  }

  begin(principal: Principal, agreed: Omit<SessionTerms, 'nonce' | 'until'>): LiveSession {
    const terms = { ...agreed, nonce: randomUUID(), until: Date.now() + longestSessionMs };
    return this.#add(sealSessionId(this.#input.parts.seals, principal, terms), terms, principal);
  }

  /** A promise where another server, or this one before a restart, may have ended it; undefined where this person has no such session. */
  of(principal: Principal, id: string): LiveSession | Promise<LiveSession | undefined> | undefined {
    const known = this.#sessions.get(id);
    if (known === undefined) return this.#asked.get(id)?.then((session) => this.#checked(principal, session)) ?? this.#find(principal, id);
    return this.#checked(principal, known);
  }

  /** One that another server speaks of. */
  named(nonce: string): LiveSession | undefined {
    return this.#byNonce.get(nonce);
  }

  /** Resolves when no server will serve it any more. */
  async end({ terms: { nonce, until } }: LiveSession): Promise<void> {
    this.#endHere(nonce);
    await this.#input.parts.store.endedSessions.add(nonce, until);
    await this.#input.mail.send({ kind: 'end', session: nonce });
  }

  #checked(principal: Principal, session: LiveSession | undefined): LiveSession | undefined {
    if (session === undefined || session.isEnded || session.principal.key !== principal.key) return undefined;
    if (session.terms.until < Date.now()) return undefined;
    session.used(principal);
    return session;
  }

  #find(principal: Principal, id: string): Promise<LiveSession | undefined> | undefined {
    const terms = openSessionId(this.#input.parts.seals, principal, id);
    if (terms === undefined || this.#endedLately.get(terms.nonce)) return undefined;
    const asked = this.#ask(id, terms, principal).finally(() => this.#asked.delete(id));
    this.#asked.set(id, asked);
    return asked;
  }

  async #ask(id: string, terms: SessionTerms, principal: Principal): Promise<LiveSession | undefined> {
    const isEnded = await this.#input.parts.store.endedSessions.has(terms.nonce).catch(() => {
      throw new DoorError(rpcCodes.internal, 'The database cannot be read at the moment: try again', { status: 503 });
    });
    if (isEnded) this.#endedLately.set(terms.nonce, true);
    return this.#endedLately.get(terms.nonce) ? undefined : this.#add(id, terms, principal);
  }

  #add(id: string, terms: SessionTerms, principal: Principal): LiveSession {
    // Names of questions are the same on no two servers.
    const session = new LiveSession({ id, terms, principal, server: `toolcrib-${this.#input.mail.server.slice(0, 8)}` });
    this.#sessions.set(id, session);
    this.#byNonce.set(terms.nonce, session);
    const own = this.#byOwner.get(principal.key) ?? new Set();
    this.#byOwner.set(principal.key, own.add(session));
    const [first] = own;
    if (own.size > mostOfOne && first !== undefined) this.#drop(first);
    return session;
  }

  #endHere(nonce: string): void {
    this.#endedLately.set(nonce, true);
    const session = this.#byNonce.get(nonce);
    session?.end();
    if (session !== undefined) this.#drop(session);
  }

  #drop(session: LiveSession): void {
    this.#sessions.delete(session.id);
    this.#forgotten(session);
  }

  #forgotten(session: LiveSession): void {
    const { key } = session.principal;
    this.#byNonce.delete(session.terms.nonce);
    const own = this.#byOwner.get(key);
    own?.delete(session);
    if (own?.size === 0) this.#byOwner.delete(key);
    session.forget();
  }

  #sweep(): void {
    const before = performance.now() - idleMs;
    for (const session of this.#byNonce.values()) if (session.usedAt < before && !session.isBusy) this.#drop(session);
  }
}
