import type { ToolOutput } from '../model/call.ts';
import { isPerUser } from '../model/credential.ts';
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
import { createDiscovery } from './discovery.ts';
import { createHealthRecord } from './health.ts';
import { createLiveSession, type LiveSession } from './live-session.ts';
import { createOngoingWork } from './ongoing-work.ts';
import { createPerUserCalls } from './per-user-calls.ts';
import { createRefreshSchedule } from './refresh-schedule.ts';
import { createStandby, type Standby } from './standby.ts';
import type { TakenSession } from './user-sessions.ts';

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
  /** [INV-6] The connection with which tools are found has changed; the sessions of users are left alone. */
  reconnect(): Promise<void>;
  /** [MCP-5] This user's credential is gone or another: what was opened with it is closed. */
  endSessionsOf(owner: string): Promise<void>;
}

export interface SourceSupervisorInput {
  definition: McpDefinition;
  /** Everything from resolving secrets to a finished handshake; bounded by the start-up timeout. For a user, or for the source itself. */
  open(signal: AbortSignal, owner?: string): Promise<McpSession>;
  /** Which credential a user has; rejects with `UNAUTHENTICATED` where there is none. Only asked where each has their own. */
  revisionOf(owner: string): Promise<string>;
  /** Writes what was found; its rejection is a failed discovery. */
  onDiscovered(tools: DiscoveredTool[], info: McpServerInfo): Promise<void>;
  onStatus(status: SourceStatus): void;
  /** A line for the source's own log. */
  note(message: string): void;
}

/** Keeps one server alive and owns its status. Nothing here knows of any other source [LIFE-8]. */
export function createSourceSupervisor(input: SourceSupervisorInput): SourceSupervisor {
  const { definition, note } = input;
  const longLived = isRemote(definition) || definition.lifecycle_mode === 'singleton';
  const health = createHealthRecord();
  const ongoing = createOngoingWork();
  const ending = new Set<Promise<void>>();
  let status: SourceStatus = { state: 'stopped' };
  let live: LiveSession | undefined;
  let standby: Standby | undefined;
  let stopping = new AbortController();
  let starting: Promise<void> | undefined;
  let halting: Promise<void> | undefined;
  const schedule = createRefreshSchedule({ intervalMs: definition.refresh_interval_ms, refresh: refreshOnSchedule });
  const ofUsers = isPerUser(definition.credential)
    ? createPerUserCalls({ longLived, open: input.open, revisionOf: input.revisionOf, end: endInBackground })
    : undefined;
  const discovery = createDiscovery({
    resources: definition.register_resources_as_tools,
    onDiscovered: input.onDiscovered,
    onReady(tools) {
      health.succeeded();
      setStatus({ state: 'running', tools });
    },
    note,
  });

  function setStatus(next: SourceStatus): void {
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

  function openLive(signal: AbortSignal): LiveSession {
    return createLiveSession({
      resilience: definition.resilience,
      open: (until) => input.open(until),
      onHeartbeat: (failure) => (failure === undefined ? health.succeeded() : health.failed(failure)),
      onLost(reason) {
        health.failed(reason);
        note(`Lost: ${withoutWords(reason.message)}`);
        setStatus({ state: 'restarting' });
      },
      async onReopened(session) {
        discovery.follow(session, signal);
        await discovery.discover(session, signal);
      },
      onGivenUp: (error) => void failOrWait(error),
    });
  }

  /** What has done its work. Nobody waits for its end but `stop`. */
  function endInBackground(session: Pick<McpSession, 'close'>): void {
    const end = session
      .close()
      .catch((error: unknown) => note(`It did not end cleanly: ${String(error)}`))
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
      ofUsers?.start();
      await (longLived ? startLongLived(signal) : startTransient(signal));
      schedule.start();
    } catch (error) {
      if (signal.aborted) {
        await letGo();
        throw new CribError('CONFLICT', 'The source was stopped while it started', { cause: error });
      }
      const failure = toCribError(error);
      await letGoOfOwn();
      if (!failOrWait(failure)) return;
      await ofUsers?.close();
      throw failure;
    }
  }

  async function startLongLived(signal: AbortSignal): Promise<void> {
    // A session that was given up, or had another connection, makes room: a process first, so that there are never two of it.
    if (!isRemote(definition)) await letGoOfOwn();
    else if (live !== undefined) endInBackground(live);
    live = openLive(signal);
    const session = await live.get(signal);
    discovery.follow(session, signal);
    await discovery.discover(session, signal);
  }

  async function startTransient(signal: AbortSignal): Promise<void> {
    await letGoOfOwn();
    const session = await input.open(signal);
    try {
      await discovery.discover(session, signal);
    } finally {
      endInBackground(session);
    }
    standby = createStandby({
      size: definition.standby,
      open: (until) => input.open(until),
      onFailure: (error) => note(`A standby could not be started: ${String(error)}`),
    });
    standby.fill();
  }

  function start(): Promise<void> {
    // However many ask at once, it is started once; only a start that is being stopped is of no use to anybody.
    if (starting !== undefined && !stopping.signal.aborted) return starting;
    const started = startNow().finally(() => {
      if (starting === started) starting = undefined;
    });
    starting = started;
    return started;
  }

  async function refresh(): Promise<void> {
    const stopped = stopping.signal;
    try {
      await ongoing.run(stopped, async (signal) => {
        const { session, giveBack } = await takeOwn(signal);
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
    if (status.state !== 'running' || (longLived && live === undefined)) return;
    await refresh().catch((error: unknown) => {
      if (stopping.signal.aborted) return;
      note(`Its tools could not be asked for again, so the last known ones stay: ${toCribError(error).message}`);
    });
  }

  /** What the source has for itself; its users go on. */
  async function letGoOfOwn(): Promise<void> {
    const [session, ready] = [live, standby];
    live = undefined;
    standby = undefined;
    await Promise.allSettled([session?.close(), ready?.close(), ...ending]);
  }

  async function letGo(): Promise<void> {
    await Promise.allSettled([letGoOfOwn(), ofUsers?.close()]);
  }

  async function halt(state: 'stopped' | 'disabled'): Promise<void> {
    const reason = new CribError('SERVICE_UNAVAILABLE', 'The source is being stopped');
    stopping.abort(reason);
    await Promise.all([starting?.catch(() => undefined), schedule.stop(), ongoing.endAll(reason)]);
    await letGo();
    setStatus({ state });
  }

  /** The one session, or a fresh one that is gone afterwards on every way out. */
  async function takeOwn(signal: AbortSignal): Promise<TakenSession> {
    const running = isAvailable(status) && !stopping.signal.aborted && (live !== undefined || !longLived);
    if (!running) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
    if (live !== undefined) return { session: await live.get(signal), giveBack: () => undefined };
    const session = standby?.take() ?? (await input.open(signal));
    return { session, giveBack: () => endInBackground(session) };
  }

  async function callOnTaken(tool: Tool, args: JsonObject, context: CallContext, signal: AbortSignal): Promise<ToolOutput> {
    const { session, giveBack } = await (ofUsers === undefined ? takeOwn(signal) : ofUsers.take(context.principal, signal));
    try {
      return await callOnSession(session, tool, args, context, signal);
    } finally {
      giveBack();
    }
  }

  /** [ID-5] What one user may not do says nothing about the source, and must not hurt the others. */
  function callFailed(error: CribError): void {
    const isOwnFault = ofUsers !== undefined && (error.code === 'UNAUTHENTICATED' || error.code === 'FORBIDDEN');
    if (!isOwnFault) health.failed(error);
  }

  return {
    get status() {
      return status;
    },
    get health() {
      return health.health;
    },
    get info() {
      return discovery.info;
    },
    start,
    stop(state) {
      const halted = halt(state).finally(() => {
        if (halting === halted) halting = undefined;
      });
      halting = halted;
      return halted;
    },
    async refresh() {
      if (!isAvailable(status)) throw new CribError('CONFLICT', 'The source is not running: start it first');
      // Without a session of its own there is none to ask; whether there can be one now is found by starting it.
      await (ofUsers !== undefined && longLived && live === undefined ? start() : refresh());
    },
    async call(tool, args, context) {
      const stopped = stopping.signal;
      // The usual way pays for nothing more: what is under way on the one session ends with it.
      const ready = ofUsers !== undefined || stopped.aborted ? undefined : live?.ready;
      try {
        const output =
          ready === undefined
            ? await ongoing.run(context.signal, (signal) => callOnTaken(tool, args, context, signal))
            : await callOnSession(ready, tool, args, context, context.ending);
        health.succeeded();
        live?.provedItself();
        return output;
      } catch (error) {
        // A caller who went away says nothing about the server, and neither does our own stop.
        if (context.ending.aborted) throw error;
        if (stopped.aborted) throw ready === undefined ? error : stopped.reason;
        if (error instanceof CribError) callFailed(error);
        throw error;
      }
    },
    async reconnect() {
      // One that has begun may have looked before there was anything to see.
      await starting?.catch(() => undefined);
      await start();
    },
    async endSessionsOf(owner) {
      await ofUsers?.endSessionsOf(owner);
    },
  };
}

function toCribError(error: unknown): CribError {
  return error instanceof CribError ? error : new CribError('SERVICE_UNAVAILABLE', String(error), { cause: error });
}
