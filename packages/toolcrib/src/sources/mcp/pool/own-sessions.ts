import { isRemote, type McpDefinition } from '../mcp-definition.ts';
import type { McpSession } from '../session/mcp-session.ts';
import type { Discovery } from './discovery.ts';
import { LiveSession, type LiveSessionInput } from './live-session.ts';
import type { SessionCounts } from '../../open-source.ts';
import { createStandby, type Standby } from './standby.ts';
import type { TakenSession } from './user-sessions.ts';

interface OwnSessionsInput extends Pick<
  LiveSessionInput,
  'onHeartbeat' | 'onLost' | 'onGivenUp' | 'onEngineAway' | 'onEngineBack' | 'enginePauseMs'
> {
  definition: McpDefinition;
  open(signal: AbortSignal): Promise<McpSession>;
  discovery: Discovery;
  /** Called where sessions are kept on standby: whether one was ready when a fresh one was needed. */
  onStandby?(used: boolean): void;
  note(message: string): void;
}

/** Its questions are part of its answers, so that none of them can be taken for another's. */
const firstStateless = '2026-07-28';

/**
 * [MCP-5] The sessions of a source itself, as opposed to those of its users. A remote server and a singleton have one that lasts and serves
 * all calls. A transient server has a fresh one for each call; in a container, a lasting one beside them lists its tools and is pinged.
 */
export class OwnSessions {
  /** Whether calls share one session. */
  readonly shared: boolean;
  /** The session that calls share, while it runs. A field, because every call looks here. */
  sharedSession: LiveSession | undefined;
  readonly #input: OwnSessionsInput;
  readonly #ending = new Set<Promise<void>>();
  /** Whether one lasts: the shared one, or the one beside those of calls. */
  readonly #lasts: boolean;
  #live: LiveSession | undefined;
  #standby: Standby | undefined;
  #ofCalls = 0;

  constructor(input: OwnSessionsInput) {
    this.#input = input;
    this.shared = isRemote(input.definition) || input.definition.lifecycle_mode === 'singleton';
    this.#lasts = this.shared || input.definition.container !== null;
  }

  /** Whether there is one that can be used: a lasting one may be missing for lack of a connection. */
  get reachable(): boolean {
    return this.#live !== undefined || !this.#lasts;
  }

  /** How many of each kind are open. */
  get open(): Omit<SessionCounts, 'user'> {
    return { lasting: this.#live?.ready === undefined ? 0 : 1, standby: this.#standby?.ready ?? 0, call: this.#ofCalls };
  }

  /** Sessions that are kept open beyond a call. */
  get lasting(): McpSession[] {
    return [...(this.#live?.ready === undefined ? [] : [this.#live.ready]), ...(this.#standby?.sessions ?? [])];
  }

  /** Resolves when those of them that are being opened are open or have failed; undefined where none is. */
  get opening(): Promise<unknown> | undefined {
    const opening = [this.#live?.opening, this.#standby?.opening].filter((each) => each !== undefined);
    return opening.length === 0 ? undefined : Promise.allSettled(opening);
  }

  /** [LIFE-3] Opens the lasting session, or one that proves that it can be opened, and lists the tools. */
  async start(signal: AbortSignal): Promise<void> {
    const { definition } = this.#input;
    // The session before, given up or opened with another connection, makes room: a process first, so that there are never two of it.
    if (!isRemote(definition)) await this.close();
    else if (this.#live !== undefined) this.end(this.#live);
    await (this.#lasts ? this.#startLasting(signal) : this.#proveReady(signal));
    if (!this.shared) this.#startStandby();
  }

  /** For one call: the shared session, or a fresh one that is closed afterwards, however the call ends. */
  take(signal: AbortSignal): Promise<TakenSession> {
    return this.sharedSession === undefined ? this.#takeFresh(signal) : takeLive(this.sharedSession, signal);
  }

  /**
   * [DOOR-5] For one call whose questions have names that its client knows: the names that a server gives are taken while another call on the
   * same session waits for an answer. A singleton is one process for all calls, so this is for remote servers of the handshake revisions.
   */
  takeAlone(signal: AbortSignal): Promise<TakenSession> | undefined {
    const version = this.sharedSession?.ready?.info.protocol_version;
    const isAlone = isRemote(this.#input.definition) && version !== undefined && version < firstStateless;
    return isAlone ? this.#takeFresh(signal) : undefined;
  }

  /** For listing the tools: the lasting session, where there is one. */
  takeToAsk(signal: AbortSignal): Promise<TakenSession> {
    return this.#live === undefined ? this.#takeFresh(signal) : takeLive(this.#live, signal);
  }

  /** [ENV-1] Replaces these. Calls under way end on the session they began with. */
  renew(outdated: ReadonlySet<McpSession>): void {
    if (this.#live?.ready !== undefined && outdated.has(this.#live.ready)) this.#live.renew();
    this.#standby?.replace(outdated);
  }

  /** Ends a session that has done its work. Nobody waits for that but `close`. */
  end(session: Pick<McpSession, 'close'>): void {
    const ended = session
      .close()
      .catch((error: unknown) => this.#input.note(`It did not end cleanly: ${String(error)}`))
      .finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  async close(): Promise<void> {
    const [live, standby] = [this.#live, this.#standby];
    this.#setLive(undefined);
    this.#standby = undefined;
    await Promise.allSettled([live?.close(), standby?.close(), ...this.#ending]);
  }

  #setLive(live: LiveSession | undefined): void {
    this.#live = live;
    if (this.shared) this.sharedSession = live;
  }

  async #startLasting(signal: AbortSignal): Promise<void> {
    const { definition, discovery } = this.#input;
    const live = new LiveSession({
      ...this.#input,
      resilience: definition.resilience,
      onReopened: async (session) => {
        discovery.follow(session, signal);
        await discovery.discover(session, signal);
        // The standby sessions have most likely been lost too.
        this.#standby?.fill();
      },
    });
    this.#setLive(live);
    const session = await live.get(signal);
    discovery.follow(session, signal);
    await discovery.discover(session, signal);
  }

  async #proveReady(signal: AbortSignal): Promise<void> {
    const session = await this.#input.open(signal);
    try {
      await this.#input.discovery.discover(session, signal);
    } finally {
      this.end(session);
    }
  }

  #startStandby(): void {
    const { definition, note } = this.#input;
    this.#standby = createStandby({
      size: definition.standby,
      open: (until) => this.#input.open(until),
      onFailure: (error) => {
        // An engine that is away was noted when it went.
        if (this.#live?.away === undefined) note(`A standby could not be started: ${String(error)}`);
      },
    });
    this.#standby.fill();
  }

  async #takeFresh(signal: AbortSignal): Promise<TakenSession> {
    const waiting = this.#standby?.take();
    // An engine that is known to be away need not be tried by every caller.
    if (waiting === undefined && this.#live?.away !== undefined) throw this.#live.away;
    if (this.#input.definition.standby > 0) this.#input.onStandby?.(waiting !== undefined);
    const session = waiting ?? (await this.#input.open(signal));
    this.#ofCalls++;
    const giveBack = () => {
      this.#ofCalls--;
      this.end(session);
    };
    return { session, reused: waiting !== undefined, giveBack };
  }
}

async function takeLive(live: LiveSession, signal: AbortSignal): Promise<TakenSession> {
  const reused = live.ready !== undefined;
  return { session: await live.get(signal), reused, giveBack: () => undefined };
}
