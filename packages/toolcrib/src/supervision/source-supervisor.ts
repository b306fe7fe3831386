import { isPerUser } from '../model/credential.ts';
import { CribError } from '../model/crib-error.ts';
import type { ImportSummary } from '../model/import-summary.ts';
import { isRemote, type McpDefinition } from '../model/mcp-definition.ts';
import { EngineUnavailableError } from '../model/named-errors.ts';
import type { Principal } from '../model/principal.ts';
import type { SourceHealth, SourceStatus } from '../model/source.ts';
import type { DiscoveredTool } from '../model/tool.ts';
import type { McpServerInfo, McpSession } from '../sources/mcp/mcp-session.ts';
import { withoutWords } from '../sources/mcp/process/process-exit.ts';
import type { Standing } from '../sources/upstream/standing.ts';
import { isAvailable } from './availability.ts';
import { createDiscovery } from './discovery.ts';
import { createHealthRecord } from './health.ts';
import { createOngoingWork } from './ongoing-work.ts';
import { createOwnSessions } from './own-sessions.ts';
import type { Pauses } from './paced.ts';
import { createPerUserCalls } from './per-user-calls.ts';
import { createPersistence } from './persistence.ts';
import { createRefreshSchedule } from './refresh-schedule.ts';
import { createSecretChanges, type SecretsFollowed } from './secret-changes.ts';
import { serverAttributes } from './server-attributes.ts';
import type { SessionCounts } from './session-counts.ts';
import { createSourceCalls, type CallSource } from './source-calls.ts';
import type { SourceNotice } from './source-notice.ts';
import { startingMessage } from './starting-message.ts';
import { toCribError } from './to-crib-error.ts';
import type { TakenSession } from './user-sessions.ts';

export interface SourceSupervisor {
  readonly status: SourceStatus;
  readonly health: SourceHealth;
  /** What the server said of itself when it was last spoken to. */
  readonly info: McpServerInfo | null;
  /** [OAS-1] What became of the document that describes it; null where none does. */
  readonly imported: ImportSummary | null;
  /**
   * [LIFE-3] Resolves when it is proven ready and its tools are in the inventory; rejects with why it is not. Where that may be over by itself it
   * is tried again until it is started or stopped: always for what runs elsewhere and [ERR-2] where only the engine of containers is away, with
   * `persistent` for everything.
   */
  start(options?: { persistent?: boolean }): Promise<void>;
  /** [LIFE-4] Resolves when nothing of it is left. */
  stop(state: 'stopped' | 'disabled'): Promise<void>;
  /** [INV-1] Asks for the tools again. */
  refresh(): Promise<void>;
  readonly call: CallSource;
  /** [OPS-1] At this moment. */
  readonly sessions: SessionCounts;
  /** [INV-6] The connection with which tools are found has changed; the sessions of users are left alone. */
  reconnect(): Promise<void>;
  /** [ENV-1] Secrets have changed. Resolves when no call can begin with an old value any more, unless the source is to keep it. */
  secretsChanged(): Promise<SecretsFollowed>;
  /** Secrets that have another value than the one with which it runs. */
  readonly outdatedSecrets: readonly string[];
  /** [MCP-5] This user's credential is gone or another: what was opened with it is closed. */
  endSessionsOf(owner: string): Promise<void>;
}

export interface SourceSupervisorInput {
  definition: McpDefinition;
  /** Everything from resolving secrets to a finished handshake; bounded by the start-up timeout. For a caller, or for the source itself. */
  open(signal: AbortSignal, principal?: Principal): Promise<McpSession>;
  /** Which credential a caller has; `UNAUTHENTICATED` where there is none. Only asked where each has their own. */
  standingOf(principal: Principal): Standing | Promise<Standing>;
  /** Writes what was found; its rejection is a failed discovery. */
  onDiscovered(tools: DiscoveredTool[], info: McpServerInfo): Promise<void>;
  /** Lets go of what was made for the source as a whole. Nothing of it is open then; never between restarts. */
  release?(): Promise<void>;
  onStatus(status: SourceStatus): void;
  /** Told what befell it, for metrics. */
  onNotice?(notice: SourceNotice): void;
  /** A line for the source's own log. */
  note(message: string): void;
  /** The last line it wrote to standard error since then, in epoch milliseconds. */
  saidSince?(time: number): string | undefined;
  /** The image that is fetched for it at the moment, and how far that is. */
  pulling?(): string | undefined;
  /** How long it is left alone where its tools keep changing; as usual where it is left out. */
  refreshPauses?: Pauses | undefined;
  /** The first pause between attempts to reach the engine of containers. */
  enginePauseMs?: number;
}

const isBack = 'The part it waited for is there again.';

/** Keeps one server alive and owns its status. Nothing here knows of any other source [LIFE-8]. */
export function createSourceSupervisor(input: SourceSupervisorInput): SourceSupervisor {
  const { definition, note } = input;
  const health = createHealthRecord();
  const ongoing = createOngoingWork();
  let status: SourceStatus = { state: 'stopped' };
  /** In epoch milliseconds, as the lines of its log are. */
  let startedAt = 0;
  let stopping = new AbortController();
  let starting: Promise<void> | undefined;
  let halting: Promise<void> | undefined;
  const schedule = createRefreshSchedule({ intervalMs: definition.refresh_interval_ms, refresh: refreshOnSchedule });
  const discovery = createDiscovery({
    resources: definition.register_resources_as_tools,
    onDiscovered: input.onDiscovered,
    onReady(tools) {
      health.succeeded();
      setStatus({ state: 'running', tools });
    },
    note,
    pauses: input.refreshPauses,
  });
  const own = createOwnSessions({
    definition,
    open: (signal) => input.open(signal),
    discovery,
    note,
    enginePauseMs: input.enginePauseMs,
    onHeartbeat(failure) {
      if (failure === undefined) return health.succeeded();
      health.failed(failure);
      input.onNotice?.('heartbeat-failed');
    },
    onLost(reason) {
      // What takes its place begins with the values that there are.
      secrets.forget();
      health.failed(reason);
      note(`Lost: ${withoutWords(reason.message)}`);
      setStatus({ state: 'restarting' });
      input.onNotice?.('restarted');
    },
    onEngineAway(reason) {
      health.failed(reason);
      note(`Waiting to be started again: ${withoutWords(reason.message)}`);
    },
    onEngineBack: () => note(isBack),
    onStandby: (used) => input.onNotice?.(used ? 'standby-used' : 'standby-missed'),
    onGivenUp(error) {
      if (!failOrWait(error)) return;
      if (isRemote(definition)) persistence.goOn(error.cause);
      // [MCP-10] Nobody may come to start it again, so nothing is kept for that.
      else if (definition.container !== null && starting === undefined) void halt(error);
    },
  });
  const persistence = createPersistence({
    start: startOnce,
    // Started by somebody else meanwhile, it is theirs now.
    isOver: () => status.state !== 'error',
    restart: definition.resilience.restart,
    elsewhere: isRemote(definition),
    onPause(retryAt) {
      if (status.state === 'error') setStatus({ ...status, retry_at: retryAt.toISOString() });
    },
    enginePauseMs: input.enginePauseMs,
  });
  const ofUsers = isPerUser(definition.credential)
    ? createPerUserCalls({ longLived: own.shared, open: input.open, standingOf: input.standingOf, end: own.end })
    : undefined;
  const secrets = createSecretChanges({ definition, own, ofUsers, note });
  const call = createSourceCalls({
    own,
    ofUsers,
    ongoing,
    health,
    take: (signal) => takeRunning(own.take, signal),
    server: serverAttributes(definition),
    stopped: () => stopping.signal,
  });

  function setStatus(next: SourceStatus): void {
    if (next.state === 'starting') startedAt = Date.now();
    status = next;
    input.onStatus(next);
  }

  /** True where it is at an end. [INV-6] Where only discovery lacks a connection, users go on with those they have. */
  function failOrWait(error: CribError): boolean {
    const { code, message, upstreamStatus } = error;
    const waits = ofUsers !== undefined && code === 'UNAUTHENTICATED';
    if (!waits || upstreamStatus !== undefined) health.failed(error);
    note(waits ? message : `Failed: ${withoutWords(message)}`);
    setStatus(waits ? { state: 'running', tools: discovery.tools, message } : { state: 'error', code, message });
    return !waits;
  }

  /** Said already, and still so. */
  function isKnown({ code, message }: CribError): boolean {
    return status.state === 'error' && status.code === code && status.message === message;
  }

  async function startNow(quietly: boolean): Promise<void> {
    // Set before anything is waited for: a stop from now on is meant for this start.
    stopping = new AbortController();
    const { signal } = stopping;
    if (halting !== undefined) await halting;
    try {
      signal.throwIfAborted();
      // Until it is there its status says what it waits for: its tools would come and go with every attempt.
      if (!quietly) setStatus({ state: 'starting' });
      ofUsers?.start();
      await own.start(signal);
      secrets.forget();
      if (quietly) note(isBack);
      schedule.start();
    } catch (error) {
      if (signal.aborted) {
        await letGo();
        throw new CribError('CONFLICT', 'The source was stopped while it started', { cause: error });
      }
      const failure = toCribError(error);
      await own.close();
      const isAway = failure instanceof EngineUnavailableError;
      // That it is still away was said when it was first seen.
      if (!(quietly && (isAway || isKnown(failure))) && !failOrWait(failure)) return;
      await ofUsers?.close();
      if (!isAway) await release();
      throw failure;
    }
  }

  function startOnce(quietly: boolean): Promise<void> {
    // However many ask at once, it is started once; only a start that is being stopped is of no use to anybody.
    if (starting !== undefined && !stopping.signal.aborted) return starting;
    const started = startNow(quietly).finally(() => {
      if (starting === started) starting = undefined;
    });
    starting = started;
    return started;
  }

  async function start({ persistent = false } = {}): Promise<void> {
    try {
      await startOnce(false);
    } catch (error) {
      const goesOn = persistent || isRemote(definition) || error instanceof EngineUnavailableError;
      if (status.state === 'error' && goesOn) persistence.goOn(error);
      throw error;
    }
  }

  /** A server that refused who we are may think otherwise of what has changed; nobody else would try it again. */
  async function secretsChanged(): Promise<SecretsFollowed> {
    const isRefused = status.state === 'error' && (status.code === 'UNAUTHENTICATED' || status.code === 'FORBIDDEN');
    if (!isRefused) return secrets.follow();
    void startOnce(true).catch(() => undefined);
    return 'renewed';
  }

  async function refresh(): Promise<void> {
    const stopped = stopping.signal;
    try {
      await ongoing.run(stopped, async (signal) => {
        const { session, giveBack } = await takeRunning(own.takeToAsk, signal);
        await discovery.discover(session, signal).finally(giveBack);
      });
    } catch (error) {
      // [INV-2] What was found before stays; being stopped says nothing about the server.
      if (!stopped.aborted) health.failed(toCribError(error));
      throw error;
    }
  }

  async function refreshOnSchedule(): Promise<void> {
    // While it restarts its tools are asked for anyway, and without a session of its own there is none to ask.
    if (status.state !== 'running' || !own.reachable) return;
    await refresh().catch((error: unknown) => {
      if (stopping.signal.aborted) return;
      note(`Its tools could not be asked for again, so the last known ones stay: ${toCribError(error).message}`);
    });
  }

  async function letGo(): Promise<void> {
    await Promise.allSettled([own.close(), ofUsers?.close()]);
  }

  async function release(): Promise<void> {
    await input.release?.().catch((error: unknown) => note(`Its resources could not be released: ${toCribError(error).message}`));
  }

  async function haltNow(reason: CribError): Promise<void> {
    persistence.end(reason);
    stopping.abort(reason);
    await Promise.all([starting?.catch(() => undefined), schedule.stop(), ongoing.endAll(reason)]);
    await letGo();
    await release();
  }

  function halt(reason: CribError, state?: 'stopped' | 'disabled'): Promise<void> {
    const halted = haltNow(reason)
      .then(() => (state === undefined ? undefined : setStatus({ state })))
      .finally(() => {
        if (halting === halted) halting = undefined;
      });
    halting = halted;
    return halted;
  }

  async function takeRunning(take: (signal: AbortSignal) => Promise<TakenSession>, signal: AbortSignal): Promise<TakenSession> {
    const running = isAvailable(status) && !stopping.signal.aborted && own.reachable;
    if (!running) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
    return take(signal);
  }

  return {
    get status() {
      if (status.state !== 'starting') return status;
      const message = startingMessage(definition, {
        forMs: Date.now() - startedAt,
        said: input.saidSince?.(startedAt),
        pulling: input.pulling?.(),
      });
      return message === undefined ? status : { ...status, message };
    },
    get health() {
      return health.health;
    },
    get info() {
      return discovery.info;
    },
    imported: null,
    start,
    stop: (state) => halt(new CribError('SERVICE_UNAVAILABLE', 'The source is being stopped'), state),
    async refresh() {
      if (!isAvailable(status)) throw new CribError('CONFLICT', 'The source is not running: start it first');
      // Without a session of its own there is none to ask; whether there can be one now is found by starting it.
      await (ofUsers !== undefined && !own.reachable ? start() : refresh());
    },
    call,
    get sessions() {
      return { ...own.open, user: ofUsers?.open ?? 0 };
    },
    async reconnect() {
      // One that has begun may have looked before there was anything to see.
      await starting?.catch(() => undefined);
      await start();
    },
    secretsChanged,
    get outdatedSecrets() {
      return secrets.outdated;
    },
    async endSessionsOf(owner) {
      await ofUsers?.endSessionsOf(owner);
    },
  };
}
