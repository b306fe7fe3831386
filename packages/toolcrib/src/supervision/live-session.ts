import { setImmediate } from 'node:timers/promises';
import { abortable } from '../model/abortable.ts';
import { CribError } from '../model/crib-error.ts';
import type { Resilience } from '../model/source-definition.ts';
import type { EngineUnavailableError } from '../model/named-errors.ts';
import type { McpSession } from '../sources/mcp/mcp-session.ts';
import { backoffMs } from './backoff.ts';
import { createEngineOutage } from './engine-outage.ts';
import { openCurrent } from './open-current.ts';
import { startHeartbeat, type Heartbeat } from './heartbeat.ts';
import { toCribError } from './to-crib-error.ts';
import { pause } from './waiting.ts';

export interface LiveSession {
  /** The one session while it is there, for those who do not want to wait. */
  readonly ready: McpSession | undefined;
  /** [ERR-2] Why nothing can be opened at this moment, where that is known. */
  readonly away: EngineUnavailableError | undefined;
  /**
   * The one session: opened by whoever asks first, joined by everybody else, also while it is being opened anew. Nobody waits for an engine that
   * is away.
   */
  get(signal: AbortSignal): Promise<McpSession>;
  /** The session while it is being opened; undefined otherwise. */
  readonly opening: Promise<unknown> | undefined;
  /** [ENV-1] Makes room for a new one. Calls under way end on the old one, which is closed then. */
  renew(): void;
  /** It has done something useful: if it is lost now, that is no part of an earlier failure. */
  provedItself(): void;
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
}

export interface LiveSessionInput {
  resilience: Resilience;
  open(signal: AbortSignal): Promise<McpSession>;
  /** Told of every answer to a heartbeat, and of every one that did not come. */
  onHeartbeat(failure?: CribError): void;
  onLost(reason: CribError): void;
  /** What has to be done with a session that was opened anew before it counts; its rejection is a failed attempt. */
  onReopened(session: McpSession): Promise<void>;
  /** [MCP-10] After the last attempt; a start by hand works again. */
  onGivenUp(reason: CribError): void;
  /** [ERR-2] What runs containers is away, so that it cannot be opened anew; told once, and once when that is over. */
  onEngineAway(reason: EngineUnavailableError): void;
  onEngineBack(): void;
  enginePauseMs?: number | undefined;
}

/** As long as the longest pause. A session that is lost sooner, without having been of use, goes on counting as a failed restart. */
const steadyMs = 60_000;

/** [MCP-5] [MCP-10] One long-lived session that is watched, and opened again with growing pauses when it is lost. */
export function createLiveSession(input: LiveSessionInput): LiveSession {
  const { resilience } = input;
  const closing = new AbortController();
  let current: Promise<McpSession> | undefined;
  let watched: { session: McpSession; since: number; heartbeat: Heartbeat } | undefined;
  /** Those that make room for a new one, while calls are under way on them. */
  const retired = new Set<McpSession>();
  /** Restarts since it was last of use. */
  let attempts = 0;
  const outage = createEngineOutage({
    onAway(reason) {
      // Whatever was counted before: what the engine takes with it says nothing about the server.
      attempts = 0;
      input.onEngineAway(reason);
    },
    onBack: () => input.onEngineBack(),
    firstPauseMs: input.enginePauseMs,
  });

  function openFirst(): Promise<McpSession> {
    const opening = openCurrent(() => input.open(closing.signal)).then(watch);
    opening.catch(() => {
      // The next caller tries again: a first start that failed is its caller's to report, not ours to repeat.
      if (current === opening) current = undefined;
    });
    return opening;
  }

  function watch(session: McpSession): McpSession {
    const heartbeat = startHeartbeat({
      session,
      resilience,
      signal: closing.signal,
      onBeat: (failure) => input.onHeartbeat(failure),
      onDead: (reason) => lose(session, reason),
    });
    watched = { session, since: performance.now(), heartbeat };
    session.onLost((reason) => lose(session, reason));
    return session;
  }

  /** Told of the same loss by several, it is one loss: each would otherwise open a session of its own. */
  function lose(session: McpSession, reason: CribError): void {
    if (watched?.session !== session) return;
    watched.heartbeat.stop();
    if (performance.now() - watched.since > steadyMs) attempts = 0;
    watched = undefined;
    if (closing.signal.aborted) return;
    input.onLost(reason);
    current = reopen(session, reason);
    current.catch(() => undefined);
  }

  async function reopen(lost: McpSession, reason: CribError): Promise<McpSession> {
    // There is never more than one: a process that hangs is gone before the next one is started.
    await lost.close(reason).catch(() => undefined);
    return tryAgain(reason);
  }

  async function handOver(old: McpSession): Promise<McpSession> {
    // Whoever has just been given the old one gets to begin.
    await setImmediate();
    const left = retire(old);
    // Two at a time only where there is no other way.
    if (old.calls === 0) await left;
    try {
      return watch(await openAnew());
    } catch (error) {
      closing.signal.throwIfAborted();
      const reason = toCribError(error);
      input.onLost(reason);
      return tryAgain(reason);
    }
  }

  async function retire(session: McpSession): Promise<void> {
    await session.idle();
    await session.close().catch(() => undefined);
    retired.delete(session);
  }

  async function tryAgain(reason: CribError): Promise<McpSession> {
    let last = reason;
    while (attempts < resilience.restart.maxAttempts) {
      await pause(backoffMs(attempts, resilience.restart.backoffMs), closing.signal);
      attempts++;
      try {
        return watch(await openAnew());
      } catch (error) {
        closing.signal.throwIfAborted();
        last = toCribError(error);
      }
    }
    const message = `Given up after ${attempts} attempt${attempts === 1 ? '' : 's'} to start it again: ${last.message}`;
    const terminal = new CribError(last.code, message, { retryable: false, cause: last });
    input.onGivenUp(terminal);
    throw terminal;
  }

  const openAnew = () => openCurrent(openOnce);

  async function openOnce(): Promise<McpSession> {
    const session = await outage.outlast(() => input.open(closing.signal), closing.signal);
    try {
      await input.onReopened(session);
      return session;
    } catch (error) {
      await session.close().catch(() => undefined);
      throw error;
    }
  }

  return {
    get ready() {
      return closing.signal.aborted ? undefined : watched?.session;
    },
    get away() {
      return outage.signal.aborted ? (outage.signal.reason as EngineUnavailableError) : undefined;
    },
    async get(signal) {
      closing.signal.throwIfAborted();
      current ??= openFirst();
      return abortable(current, signal, outage.signal);
    },
    get opening() {
      return watched === undefined ? current : undefined;
    },
    renew() {
      if (watched === undefined || closing.signal.aborted) return;
      watched.heartbeat.stop();
      retired.add(watched.session);
      current = handOver(watched.session);
      current.catch(() => undefined);
      watched = undefined;
      attempts = 0;
    },
    provedItself() {
      attempts = 0;
    },
    async close() {
      closing.abort(new CribError('SERVICE_UNAVAILABLE', 'The source is being stopped'));
      await Promise.allSettled([...retired].map((session) => session.close()));
      const session = await current?.catch(() => undefined);
      watched?.heartbeat.stop();
      await session?.close();
    },
  };
}
