import type { ToolOutput } from '../model/call.ts';
import { isPerUser } from '../model/credential.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import { isRemote, type McpDefinition } from '../model/mcp-definition.ts';
import type { SourceHealth, SourceStatus } from '../model/source.ts';
import type { DiscoveredTool, Tool } from '../model/tool.ts';
import type { McpServerInfo, McpSession } from '../sources/mcp/mcp-session.ts';
import type { CallContext } from '../sources/source.ts';
import { createHealthRecord } from './health.ts';
import { createLiveSession, type LiveSession } from './live-session.ts';
import { makeCall } from './make-call.ts';
import { createStandby, type Standby } from './standby.ts';
import { createPerUserCalls } from './per-user-calls.ts';
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
  let toolCount = 0;
  const ofUsers = isPerUser(definition.credential)
    ? createPerUserCalls({ longLived, open: input.open, revisionOf: input.revisionOf, end: endInBackground })
    : undefined;

  function setStatus(next: SourceStatus): void {
    status = next;
    input.onStatus(next);
  }

  async function discover(session: McpSession, signal: AbortSignal): Promise<void> {
    const found = await session.listTools({ signal, resources: definition.register_resources_as_tools });
    info = session.info;
    await input.onDiscovered(found, session.info);
    health.succeeded();
    toolCount = found.length;
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
      open: (until) => input.open(until),
      onLost(reason) {
        health.failed(reason);
        input.note(`Lost: ${reason.message}`);
        setStatus({ state: 'restarting' });
      },
      onReopened(session) {
        follow(session);
        discover(session, stopping.signal).catch((error: unknown) => failOrWait(toCribError(error)));
      },
      onGivenUp: (error) => void failOrWait(error),
    });
  }

  /** True where it is at an end. [INV-6] Where only discovery lacks a connection, users go on with those they have. */
  function failOrWait(error: CribError): boolean {
    const waits = ofUsers !== undefined && error.code === 'UNAUTHENTICATED';
    if (!waits || error.upstreamStatus !== undefined) health.failed(error);
    input.note(waits ? error.message : `Failed: ${error.message}`);
    setStatus(
      waits ? { state: 'running', tools: toolCount, message: error.message } : { state: 'error', code: error.code, message: error.message },
    );
    return !waits;
  }

  /** A session that has done its one thing. Nobody waits for its end but `stop`. */
  function endInBackground(session: Pick<McpSession, 'close'>): void {
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
    ofUsers?.start();
    try {
      if (longLived) {
        // With another connection the session is another; calls wait for it, and the old one goes.
        if (live !== undefined) endInBackground(live);
        live = openLive();
        const session = await live.get(signal);
        follow(session);
        await discover(session, signal);
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
        open: (until) => input.open(until),
        onFailure: (error) => input.note(`A standby could not be started: ${String(error)}`),
      });
      standby.fill();
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

  async function sessionFor(signal: AbortSignal): Promise<McpSession> {
    if (longLived) {
      if (live === undefined) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
      return live.get(signal);
    }
    return standby?.take() ?? input.open(signal);
  }

  /** A session for one call, and what to do with it afterwards. */
  async function take(context: CallContext): Promise<TakenSession> {
    if (ofUsers !== undefined) return ofUsers.take(context);
    const session = await sessionFor(context.signal);
    return { session, giveBack: () => longLived || endInBackground(session) };
  }

  /** [ID-5] What one user may not do says nothing about the source, and must not hurt the others. */
  function callFailed(error: CribError): void {
    const isOwnFault = ofUsers !== undefined && (error.code === 'UNAUTHENTICATED' || error.code === 'FORBIDDEN');
    if (!isOwnFault) health.failed(error);
  }

  function start(): Promise<void> {
    // However many ask at once, it is started once.
    starting ??= startNow().finally(() => {
      starting = undefined;
    });
    return starting;
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
    start,
    async stop(state) {
      stopping.abort(new CribError('SERVICE_UNAVAILABLE', 'The source is being stopped'));
      await starting?.catch(() => undefined);
      await letGo();
      setStatus({ state });
    },
    async refresh() {
      // Without a session of its own there is none to ask; whether there can be one now is found by starting it.
      if (ofUsers !== undefined && longLived && live === undefined) return start();
      const session = await sessionFor(stopping.signal);
      try {
        await discover(session, stopping.signal);
      } finally {
        if (!longLived) endInBackground(session);
      }
    },
    call: (tool, args, context) =>
      makeCall({ take, replaced: longLived, succeeded: health.succeeded, failed: callFailed }, tool, args, context),
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
