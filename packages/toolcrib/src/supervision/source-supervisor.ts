import type { ToolOutput } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import { isRemote, type McpDefinition } from '../model/mcp-definition.ts';
import type { SourceHealth, SourceStatus } from '../model/source.ts';
import type { DiscoveredTool, Tool } from '../model/tool.ts';
import type { McpServerInfo, McpSession } from '../sources/mcp/mcp-session.ts';
import { withoutWords } from '../sources/mcp/process/process-exit.ts';
import type { CallContext } from '../sources/source.ts';
import { isAvailable } from './availability.ts';
import { callOnSession } from './call-on-session.ts';
import { createHealthRecord } from './health.ts';
import { createLiveSession, type LiveSession } from './live-session.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { createOngoingWork } from './ongoing-work.ts';
import { createRefreshSchedule } from './refresh-schedule.ts';
import { createStandby, type Standby } from './standby.ts';

export interface SourceSupervisor {
  readonly status: SourceStatus;
  readonly health: SourceHealth;
  /** What the server said of itself when it was last spoken to. */
  readonly info: McpServerInfo | null;
  /** [LIFE-3] Resolves when it is proven ready and its tools are in the inventory; rejects with why it is not. */
  start(): Promise<void>;
  /** [LIFE-4] Resolves when nothing of it is left. */
  stop(state: 'stopped' | 'disabled'): Promise<void>;
  /** [INV-1] Asks for the tools again. */
  refresh(): Promise<void>;
  call(tool: Tool, args: JsonObject, context: CallContext): Promise<ToolOutput>;
}

export interface SourceSupervisorInput {
  definition: McpDefinition;
  /** Everything from resolving secrets to a finished handshake; bounded by the start-up timeout. */
  open(signal: AbortSignal): Promise<McpSession>;
  /** Writes what was found; its rejection is a failed discovery. */
  onDiscovered(tools: DiscoveredTool[], info: McpServerInfo): Promise<void>;
  onStatus(status: SourceStatus): void;
  /** A line for the source's own log. */
  note(message: string): void;
}

/** Keeps one server alive and owns its status. Nothing here knows of any other source [LIFE-8]. */
export function createSourceSupervisor(input: SourceSupervisorInput): SourceSupervisor {
  const { definition } = input;
  const { resilience } = definition;
  const longLived = isRemote(definition) || definition.lifecycle_mode === 'singleton';
  const health = createHealthRecord();
  const ongoing = createOngoingWork();
  const ending = new Set<Promise<void>>();
  let status: SourceStatus = { state: 'stopped' };
  let info: McpServerInfo | null = null;
  let live: LiveSession | undefined;
  let standby: Standby | undefined;
  let stopping = new AbortController();
  let starting: Promise<void> | undefined;
  let discovering: Promise<unknown> = Promise.resolve();
  const schedule = createRefreshSchedule({ intervalMs: definition.refresh_interval_ms, refresh: refreshOnSchedule });
  let halting: Promise<void> | undefined;

  function setStatus(next: SourceStatus): void {
    status = next;
    input.onStatus(next);
  }

  /** One after another: a list that was asked for earlier must not be written over one that came later. */
  function discover(session: McpSession, signal: AbortSignal): Promise<void> {
    const next = discovering.then(() => discoverNow(session, signal));
    discovering = next.catch(() => undefined);
    return next;
  }

  async function discoverNow(session: McpSession, signal: AbortSignal): Promise<void> {
    const found = await session.listTools({ signal, resources: definition.register_resources_as_tools });
    info = session.info;
    await input.onDiscovered(found, session.info);
    // Stopped or lost meanwhile, it is not running, whatever it has listed.
    signal.throwIfAborted();
    if (!session.connected) return;
    health.succeeded();
    setStatus({ state: 'running', tools: found.length });
  }

  /** However fast a server tells of changes, its list is asked for once at a time. */
  function follow(session: McpSession, signal: AbortSignal): void {
    const readAgain = oneAtATime(() =>
      discover(session, signal).catch((error: unknown) => input.note(`The changed list could not be read: ${String(error)}`)),
    );
    session.onToolsChanged(readAgain);
  }

  function openLive(signal: AbortSignal): LiveSession {
    return createLiveSession({
      resilience,
      open: input.open,
      onHeartbeat: (failure) => (failure === undefined ? health.succeeded() : health.failed(failure)),
      onLost(reason) {
        health.failed(reason);
        input.note(`Lost: ${withoutWords(reason.message)}`);
        setStatus({ state: 'restarting' });
      },
      async onReopened(session) {
        follow(session, signal);
        await discover(session, signal);
      },
      onGivenUp: fail,
    });
  }

  function fail(error: CribError): void {
    health.failed(error);
    input.note(`Failed: ${withoutWords(error.message)}`);
    setStatus({ state: 'error', code: error.code, message: error.message });
  }

  /** A session that has done its one thing. Nobody waits for its end but `stop`. */
  function endInBackground(session: McpSession): void {
    const end = session
      .close()
      .catch((error: unknown) => input.note(`It did not end cleanly: ${String(error)}`))
      .finally(() => ending.delete(end));
    ending.add(end);
  }

  async function startNow(): Promise<void> {
    // Set before anything is waited for: a stop from now on is meant for this start.
    stopping = new AbortController();
    const { signal } = stopping;
    if (halting !== undefined) await halting;
    try {
      signal.throwIfAborted();
      setStatus({ state: 'starting' });
      // A session that was given up, or is still being opened again, makes room for this one.
      if (live !== undefined || standby !== undefined) await letGo();
      if (longLived) {
        live = openLive(signal);
        const session = await live.get(signal);
        follow(session, signal);
        await discover(session, signal);
        schedule.start();
        return;
      }
      const session = await input.open(signal);
      try {
        await discover(session, signal);
      } finally {
        endInBackground(session);
      }
      standby = createStandby({
        size: definition.standby,
        open: input.open,
        onFailure: (error) => input.note(`A standby could not be started: ${String(error)}`),
      });
      standby.fill();
      schedule.start();
    } catch (error) {
      await letGo();
      if (signal.aborted) throw new CribError('CONFLICT', 'The source was stopped while it started', { cause: error });
      const failure = toCribError(error);
      fail(failure);
      throw failure;
    }
  }

  async function refresh(): Promise<void> {
    const stopped = stopping.signal;
    try {
      await ongoing.run(stopped, (signal) => withSession(signal, (session) => discover(session, signal)));
    } catch (error) {
      // [INV-2] What was found before stays; being stopped says nothing about the server.
      if (!stopped.aborted) health.failed(toCribError(error));
      throw error;
    }
  }

  async function refreshOnSchedule(): Promise<void> {
    // While it restarts its tools are asked for anyway.
    if (status.state !== 'running') return;
    await refresh().catch((error: unknown) => {
      if (!stopping.signal.aborted)
        input.note(`Its tools could not be asked for again, so the last known ones stay: ${toCribError(error).message}`);
    });
  }

  async function letGo(): Promise<void> {
    const [session, ready] = [live, standby];
    live = undefined;
    standby = undefined;
    await Promise.allSettled([session?.close(), ready?.close(), ...ending]);
  }

  async function halt(state: 'stopped' | 'disabled'): Promise<void> {
    const reason = new CribError('SERVICE_UNAVAILABLE', 'The source is being stopped');
    stopping.abort(reason);
    await Promise.all([starting?.catch(() => undefined), schedule.stop(), ongoing.endAll(reason)]);
    await letGo();
    setStatus({ state });
  }

  async function sessionFor(signal: AbortSignal): Promise<McpSession> {
    const running = isAvailable(status) && !stopping.signal.aborted && (live !== undefined || !longLived);
    if (!running) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
    if (live !== undefined) return live.get(signal);
    return standby?.take() ?? input.open(signal);
  }

  /** Over the one session, or over a fresh one that is gone after it on every way out. */
  async function withSession<Result>(signal: AbortSignal, work: (session: McpSession) => Promise<Result>): Promise<Result> {
    const session = await sessionFor(signal);
    try {
      return await work(session);
    } finally {
      if (!longLived) endInBackground(session);
    }
  }

  return {
    get status() {
      return status;
    },
    get health() {
      return health.health;
    },
    get info() {
      return info;
    },
    start() {
      // However many ask at once, it is started once; only a start that is being stopped is of no use to anybody.
      if (starting !== undefined && !stopping.signal.aborted) return starting;
      const started = startNow().finally(() => {
        if (starting === started) starting = undefined;
      });
      starting = started;
      return started;
    },
    stop(state) {
      const halted = halt(state).finally(() => {
        if (halting === halted) halting = undefined;
      });
      halting = halted;
      return halted;
    },
    async refresh() {
      if (!isAvailable(status)) throw new CribError('CONFLICT', 'The source is not running: start it first');
      await refresh();
    },
    async call(tool, args, context) {
      const stopped = stopping.signal;
      // The usual way pays for nothing more: what is under way on the one session ends with it.
      const ready = stopped.aborted ? undefined : live?.ready;
      try {
        const output =
          ready === undefined
            ? await ongoing.run(context.signal, (signal) =>
                withSession(signal, (session) => callOnSession(session, tool, args, context, signal)),
              )
            : await callOnSession(ready, tool, args, context, context.ending);
        health.succeeded();
        live?.provedItself();
        return output;
      } catch (error) {
        // A caller who went away says nothing about the server, and neither does our own stop.
        if (context.ending.aborted) throw error;
        if (stopped.aborted) throw ready === undefined ? error : stopped.reason;
        if (error instanceof CribError) health.failed(error);
        throw error;
      }
    },
  };
}

function toCribError(error: unknown): CribError {
  return error instanceof CribError ? error : new CribError('SERVICE_UNAVAILABLE', String(error), { cause: error });
}
