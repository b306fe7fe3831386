import { setImmediate } from 'node:timers/promises';
import { abortable } from '../../../resilience/abortable.ts';
import { CribError } from '../../../model/crib-error.ts';
import type { EngineUnavailableError } from '../../../model/named-errors.ts';
import type { Resilience } from '../../../model/source-definition.ts';
import { toCribError } from '../../../model/to-crib-error.ts';
import { backoffMs } from '../../../resilience/backoff.ts';
import { pause } from '../../../resilience/waiting.ts';
import type { McpSession } from '../session/mcp-session.ts';
import { createEngineOutage, type EngineOutage } from './engine-outage.ts';
import { startHeartbeat, type Heartbeat } from './heartbeat.ts';
import { openCurrent } from './open-current.ts';
import { counted } from '../../../text/counted.ts';

export interface LiveSessionInput {
  resilience: Resilience;
  open(signal: AbortSignal): Promise<McpSession>;
  /** Called for every heartbeat, with the failure where no answer came. */
  onHeartbeat(failure?: CribError): void;
  /** Called when the session is lost, or could not be replaced, and is being opened again. */
  onLost(reason: CribError): void;
  /** Work to do on a reopened session before it is used; its rejection is a failed attempt. */
  onReopened(session: McpSession): Promise<void>;
  /** [MCP-10] Called after the last failed attempt; a start by hand still works. */
  onGivenUp(reason: CribError): void;
  /** [ERR-2] Called once when the container engine is away, so that no session can be opened, and once when it is back. */
  onEngineAway(reason: EngineUnavailableError): void;
  onEngineBack(): void;
  enginePauseMs?: number | undefined;
}

/** As long as the longest pause. A session that is lost sooner, without having been of use, goes on counting as a failed restart. */
const steadyMs = 60_000;

/** [MCP-5] [MCP-10] One long-lived session that is watched, and opened again with growing pauses when it is lost. */
export class LiveSession {
  /** The session while it is open, for callers who do not want to wait. A field, because every call looks here. */
  ready: McpSession | undefined;
  /** How often the session was restarted since it last did something useful. */
  restarts = 0;
  readonly #input: LiveSessionInput;
  readonly #outage: EngineOutage;
  readonly #closing = new AbortController();
  #current: Promise<McpSession> | undefined;
  #watched: { session: McpSession; since: number; heartbeat: Heartbeat } | undefined;
  /** Sessions that were replaced, while calls are under way on them. */
  readonly #retired = new Set<McpSession>();

  constructor(input: LiveSessionInput) {
    this.#input = input;
    this.#outage = createEngineOutage({
      onAway: (reason) => {
        // A session that ends with its engine says nothing about the server.
        this.restarts = 0;
        input.onEngineAway(reason);
      },
      onBack: () => input.onEngineBack(),
      firstPauseMs: input.enginePauseMs,
    });
  }

  /** [ERR-2] Why nothing can be opened at this moment, where that is known. */
  get away(): EngineUnavailableError | undefined {
    const { signal } = this.#outage;
    return signal.aborted ? (signal.reason as EngineUnavailableError) : undefined;
  }

  /** The session while it is being opened; undefined otherwise. */
  get opening(): Promise<unknown> | undefined {
    return this.#watched === undefined ? this.#current : undefined;
  }

  /** The one session: the first caller opens it, the others join, also while it is reopened. Nobody waits for an engine that is away. */
  async get(signal: AbortSignal): Promise<McpSession> {
    this.#closing.signal.throwIfAborted();
    this.#current ??= this.#openFirst();
    return abortable(this.#current, signal, this.#outage.signal);
  }

  /** Call it when the session has done something useful: a loss after that does not count towards earlier failures. */
  provedItself(): void {
    this.restarts = 0;
  }

  /** [ENV-1] Replaces the session with a new one. Calls under way finish on the old session, which is then closed. */
  renew(): void {
    const old = this.#watched?.session;
    if (old === undefined || this.#closing.signal.aborted) return;
    this.#unwatch();
    this.#retired.add(old);
    this.#current = this.#handOver(old);
    this.#current.catch(() => undefined);
    this.restarts = 0;
  }

  /** Resolves when nothing of it is left. */
  async close(): Promise<void> {
    this.#closing.abort(new CribError('SERVICE_UNAVAILABLE', 'The source is being stopped'));
    this.ready = undefined;
    await Promise.allSettled([...this.#retired].map((session) => session.close()));
    const session = await this.#current?.catch(() => undefined);
    this.#watched?.heartbeat.stop();
    await session?.close();
  }

  #openFirst(): Promise<McpSession> {
    const opening = openCurrent(() => this.#input.open(this.#closing.signal)).then((session) => this.#watch(session));
    opening.catch(() => {
      // The next caller tries again: the caller of a first start reports its failure, and nobody repeats it.
      if (this.#current === opening) this.#current = undefined;
    });
    return opening;
  }

  #watch(session: McpSession): McpSession {
    const heartbeat = startHeartbeat({
      session,
      resilience: this.#input.resilience,
      signal: this.#closing.signal,
      onBeat: (failure) => this.#input.onHeartbeat(failure),
    });
    this.#watched = { session, since: performance.now(), heartbeat };
    if (!this.#closing.signal.aborted) this.ready = session;
    session.onLost(({ error }) => this.#lose(session, error));
    return session;
  }

  #unwatch(): void {
    this.#watched?.heartbeat.stop();
    this.#watched = undefined;
    this.ready = undefined;
  }

  /** Ignores the loss of a session that was already replaced. */
  #lose(session: McpSession, reason: CribError): void {
    if (this.#watched?.session !== session) return;
    if (performance.now() - this.#watched.since > steadyMs) this.restarts = 0;
    this.#unwatch();
    if (this.#closing.signal.aborted) return;
    this.#input.onLost(reason);
    this.#current = this.#reopen(session, reason);
    this.#current.catch(() => undefined);
  }

  async #reopen(lost: McpSession, reason: CribError): Promise<McpSession> {
    // There is never more than one: a process that hangs is gone before the next one is started.
    await lost.close(reason).catch(() => undefined);
    return this.#tryAgain(reason);
  }

  async #handOver(old: McpSession): Promise<McpSession> {
    // A caller who has just got the old session can still begin its call.
    await setImmediate();
    const left = this.#retire(old);
    // Two sessions are open at a time only if the old one still has calls.
    if (old.calls === 0) await left;
    try {
      return this.#watch(await this.#openAnew());
    } catch (error) {
      this.#closing.signal.throwIfAborted();
      const reason = toCribError(error);
      this.#input.onLost(reason);
      return this.#tryAgain(reason);
    }
  }

  async #retire(session: McpSession): Promise<void> {
    await session.idle();
    await session.close().catch(() => undefined);
    this.#retired.delete(session);
  }

  async #tryAgain(reason: CribError): Promise<McpSession> {
    const { maxAttempts, backoffMs: firstMs } = this.#input.resilience.restart;
    let last = reason;
    while (this.restarts < maxAttempts) {
      await pause(backoffMs(this.restarts, firstMs), this.#closing.signal);
      this.restarts++;
      try {
        return this.#watch(await this.#openAnew());
      } catch (error) {
        this.#closing.signal.throwIfAborted();
        last = toCribError(error);
      }
    }
    const terminal = givenUp(this.restarts, last);
    this.#input.onGivenUp(terminal);
    throw terminal;
  }

  #openAnew(): Promise<McpSession> {
    return openCurrent(async () => {
      const { signal } = this.#closing;
      const session = await this.#outage.outlast(() => this.#input.open(signal), signal);
      try {
        await this.#input.onReopened(session);
        return session;
      } catch (error) {
        await session.close().catch(() => undefined);
        throw error;
      }
    });
  }
}

function givenUp(attempts: number, last: CribError): CribError {
  const why = `Given up after ${counted(attempts, 'attempt')} to start it again`;
  const { summary = last.message, lastWords } = last;
  return new CribError(last.code, `${why}: ${last.message}`, { retryable: false, summary: `${why}: ${summary}`, lastWords, cause: last });
}
