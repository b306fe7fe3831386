import type { ToolOutput } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import { isRemote, type McpDefinition } from '../model/mcp-definition.ts';
import type { SourceHealth, SourceStatus } from '../model/source.ts';
import type { DiscoveredTool, Tool } from '../model/tool.ts';
import type { McpServerInfo, McpSession } from '../sources/mcp/mcp-session.ts';
import { SessionLostError } from '../sources/mcp/session/session-errors.ts';
import type { CallContext } from '../sources/source.ts';
import { callOn } from './call-on.ts';
import { createHealthRecord } from './health.ts';
import { createLiveSession, type LiveSession } from './live-session.ts';
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
  const ending = new Set<Promise<void>>();
  let status: SourceStatus = { state: 'stopped' };
  let info: McpServerInfo | null = null;
  let live: LiveSession | undefined;
  let standby: Standby | undefined;
  let stopping = new AbortController();
  let starting: Promise<void> | undefined;
  let discovering: Promise<unknown> = Promise.resolve();
  const schedule = createRefreshSchedule({ intervalMs: definition.refresh_interval_ms, refresh: refreshOnSchedule });

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
    health.succeeded();
    setStatus({ state: 'running', tools: found.length });
  }

  function follow(session: McpSession): void {
    session.onToolsChanged(() => {
      discover(session, stopping.signal).catch((error: unknown) => input.note(`The changed list could not be read: ${String(error)}`));
    });
  }

  function openLive(): LiveSession {
    return createLiveSession({
      resilience,
      open: input.open,
      onLost(reason) {
        health.failed(reason);
        input.note(`Lost: ${reason.message}`);
        setStatus({ state: 'restarting' });
      },
      onReopened(session) {
        follow(session);
        discover(session, stopping.signal).catch((error: unknown) => fail(toCribError(error)));
      },
      onGivenUp: fail,
    });
  }

  function fail(error: CribError): void {
    health.failed(error);
    input.note(`Failed: ${error.message}`);
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
    stopping = new AbortController();
    const { signal } = stopping;
    setStatus({ state: 'starting' });
    try {
      if (longLived) {
        live = openLive();
        const session = await live.get(signal);
        follow(session);
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
    const { signal } = stopping;
    try {
      const session = await sessionFor(signal);
      try {
        await discover(session, signal);
      } finally {
        if (!longLived) endInBackground(session);
      }
    } catch (error) {
      // [INV-2] What was found before stays; being stopped says nothing about the server.
      if (!signal.aborted) health.failed(toCribError(error));
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

  async function sessionFor(signal: AbortSignal): Promise<McpSession> {
    if (longLived) {
      if (live === undefined) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
      return live.get(signal);
    }
    return standby?.take() ?? input.open(signal);
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
      // However many ask at once, it is started once.
      starting ??= startNow().finally(() => {
        starting = undefined;
      });
      return starting;
    },
    async stop(state) {
      stopping.abort(new CribError('SERVICE_UNAVAILABLE', 'The source is being stopped'));
      await starting?.catch(() => undefined);
      await schedule.stop();
      await letGo();
      setStatus({ state });
    },
    refresh,
    async call(tool, args, context) {
      const session = await sessionFor(context.signal);
      try {
        const output = await callOn(session, tool, args, context);
        health.succeeded();
        return output;
      } catch (error) {
        // A caller who went away says nothing about the server.
        if (context.signal.aborted) throw error;
        if (error instanceof CribError) health.failed(error);
        if (!longLived || !(error instanceof SessionLostError) || (error.mayHaveRun && !isHarmless(tool))) throw error;
        // [MCP-11] Once, over the session that is being opened in place of the lost one.
        const output = await callOn(await sessionFor(context.signal), tool, args, context);
        health.succeeded();
        return { ...output, metadata: { ...output.metadata, attempts: 2 } };
      } finally {
        if (!longLived) endInBackground(session);
      }
    },
  };
}

/** What may be done twice without harm, by the tool's own word. */
function isHarmless({ definition: { annotations } }: Tool): boolean {
  return annotations?.['readOnlyHint'] === true || annotations?.['idempotentHint'] === true;
}

function toCribError(error: unknown): CribError {
  return error instanceof CribError ? error : new CribError('SERVICE_UNAVAILABLE', String(error), { cause: error });
}
