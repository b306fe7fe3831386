import { isRemote, type McpDefinition } from '../model/mcp-definition.ts';
import type { McpSession } from '../sources/mcp/mcp-session.ts';
import type { Discovery } from './discovery.ts';
import { createLiveSession, type LiveSession, type LiveSessionInput } from './live-session.ts';
import type { SessionCounts } from './session-counts.ts';
import { createStandby, type Standby } from './standby.ts';
import type { TakenSession } from './user-sessions.ts';

/** What a source has for itself, as opposed to what its users have for themselves. */
export interface OwnSessions {
  /** Whether calls share one session. */
  readonly shared: boolean;
  /** Whether there is one to be asked: one that lasts may be wanting for lack of a connection. */
  readonly reachable: boolean;
  /** The session that all calls share while it is there, for those who do not want to wait. */
  readonly ready: McpSession | undefined;
  /** How many of each kind are open. */
  readonly open: Omit<SessionCounts, 'user'>;
  /** [LIFE-3] Opens what lasts, or one that proves that it can be opened, and asks it for its tools. */
  start(signal: AbortSignal): Promise<void>;
  /** For one call: the one session, or a fresh one that is gone afterwards on every way out. */
  take(signal: AbortSignal): Promise<TakenSession>;
  /** For asking what tools there are: the session that lasts, where there is one. */
  takeToAsk(signal: AbortSignal): Promise<TakenSession>;
  /** Those that are kept open beyond a call. */
  readonly lasting: McpSession[];
  /** Whatever of these is being opened; undefined where nothing is. */
  readonly opening: Promise<unknown> | undefined;
  /** [ENV-1] Others take the place of these. Calls under way end on what they have begun with. */
  renew(outdated: ReadonlySet<McpSession>): void;
  /** A call was answered. */
  provedItself(): void;
  /** Ends what has done its work. Nobody waits for that but `close`. */
  end(session: Pick<McpSession, 'close'>): void;
  close(): Promise<void>;
}

interface OwnSessionsInput extends Pick<
  LiveSessionInput,
  'onHeartbeat' | 'onLost' | 'onGivenUp' | 'onEngineAway' | 'onEngineBack' | 'enginePauseMs'
> {
  definition: McpDefinition;
  open(signal: AbortSignal): Promise<McpSession>;
  discovery: Discovery;
  /** Told whether a session was ready for whoever needed a fresh one, where some should be. */
  onStandby?(used: boolean): void;
  note(message: string): void;
}

/**
 * [MCP-5] How a source comes by its sessions. A remote server and a singleton have one that lasts and serves all calls. A transient server has a
 * fresh one for each; inside a container one that lasts stands beside them, which is asked for tools and whether the server is there.
 */
export function createOwnSessions(input: OwnSessionsInput): OwnSessions {
  const { definition, discovery, note } = input;
  const shared = isRemote(definition) || definition.lifecycle_mode === 'singleton';
  const watched = shared || definition.container !== null;
  const ending = new Set<Promise<void>>();
  let live: LiveSession | undefined;
  let standby: Standby | undefined;
  let ofCalls = 0;

  function end(session: Pick<McpSession, 'close'>): void {
    const ended = session
      .close()
      .catch((error: unknown) => note(`It did not end cleanly: ${String(error)}`))
      .finally(() => ending.delete(ended));
    ending.add(ended);
  }

  async function close(): Promise<void> {
    const [session, ready] = [live, standby];
    live = undefined;
    standby = undefined;
    await Promise.allSettled([session?.close(), ready?.close(), ...ending]);
  }

  function openLive(signal: AbortSignal): LiveSession {
    return createLiveSession({
      ...input,
      resilience: definition.resilience,
      async onReopened(session) {
        discovery.follow(session, signal);
        await discovery.discover(session, signal);
        // Those that were ready have most likely gone the same way.
        standby?.fill();
      },
    });
  }

  async function startWatched(signal: AbortSignal): Promise<void> {
    live = openLive(signal);
    const session = await live.get(signal);
    discovery.follow(session, signal);
    await discovery.discover(session, signal);
  }

  async function proveReady(signal: AbortSignal): Promise<void> {
    const session = await input.open(signal);
    try {
      await discovery.discover(session, signal);
    } finally {
      end(session);
    }
  }

  async function takeFresh(signal: AbortSignal): Promise<TakenSession> {
    const waiting = standby?.take();
    // Whoever knows that it is of no use does not make a caller find out.
    if (waiting === undefined && live?.away !== undefined) throw live.away;
    if (definition.standby > 0) input.onStandby?.(waiting !== undefined);
    const session = waiting ?? (await input.open(signal));
    ofCalls++;
    const giveBack = () => {
      ofCalls--;
      end(session);
    };
    return { session, reused: waiting !== undefined, giveBack };
  }

  async function takeLive(from: LiveSession, signal: AbortSignal): Promise<TakenSession> {
    const reused = from.ready !== undefined;
    return { session: await from.get(signal), reused, giveBack: () => undefined };
  }

  return {
    shared,
    get reachable() {
      return live !== undefined || !watched;
    },
    get ready() {
      return shared ? live?.ready : undefined;
    },
    get open() {
      return { lasting: live?.ready === undefined ? 0 : 1, standby: standby?.ready ?? 0, call: ofCalls };
    },
    async start(signal) {
      // What was given up, or had another connection, makes room: a process first, so that there are never two of it.
      if (!isRemote(definition)) await close();
      else if (live !== undefined) end(live);
      await (watched ? startWatched(signal) : proveReady(signal));
      if (shared) return;
      standby = createStandby({
        size: definition.standby,
        open: (until) => input.open(until),
        onFailure(error) {
          // That is known, and was said once.
          if (live?.away === undefined) note(`A standby could not be started: ${String(error)}`);
        },
      });
      standby.fill();
    },
    take: (signal) => (shared && live !== undefined ? takeLive(live, signal) : takeFresh(signal)),
    takeToAsk: (signal) => (live === undefined ? takeFresh(signal) : takeLive(live, signal)),
    get lasting() {
      return [...(live?.ready === undefined ? [] : [live.ready]), ...(standby?.sessions ?? [])];
    },
    get opening() {
      const opening = [live?.opening, standby?.opening].filter((each) => each !== undefined);
      return opening.length === 0 ? undefined : Promise.allSettled(opening);
    },
    renew(outdated) {
      if (live?.ready !== undefined && outdated.has(live.ready)) live.renew();
      standby?.replace(outdated);
    },
    provedItself() {
      // What was answered elsewhere says nothing about the one that lasts.
      if (shared) live?.provedItself();
    },
    end,
    close,
  };
}
