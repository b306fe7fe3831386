import type { CallOutcome } from '../model/call-outcome.ts';
import type { ToolOutput } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import { EngineUnavailableError } from '../model/named-errors.ts';
import type { SourceNotice } from '../model/observer.ts';
import { originOfFailure } from '../model/origin.ts';
import { sourceDefinitionSchema } from '../model/source-definition.ts';
import type { SourceRecord, SourceStatus } from '../model/source.ts';
import type { DiscoveredTool, Tool } from '../model/tool.ts';
import { toCribError } from '../model/to-crib-error.ts';
import type { OpenSource, SecretsFollowed, SourceHost, SourceInfo } from '../sources/open-source.ts';
import type { CallContext, Source } from '../sources/source.ts';
import { HealthRecord } from '../sources/upstream/health.ts';
import { isAvailable } from './availability.ts';
import { createPersistence, type Persistence } from './persistence.ts';
import { createRefreshSchedule, type RefreshSchedule } from './refresh-schedule.ts';

export interface LifecycleInput {
  source: SourceRecord;
  /** Opens the source according to its kind. Starts nothing. */
  open(host: SourceHost): OpenSource;
  /** Stores the discovered tools; a rejection is a failed discovery. */
  onDiscovered(tools: DiscoveredTool[], info: SourceInfo): Promise<void>;
  /** [DOOR-5] A list beside the tools has changed. */
  onOffersChanged?(what: 'resources' | 'prompts'): void;
  countTools(): number;
  onStatus(status: SourceStatus): void;
  onNotice(notice: SourceNotice): void;
  /** A line for the source's own log. */
  note(message: string): void;
  /** The first pause between attempts to reach the container engine. */
  enginePauseMs?: number | undefined;
}

const defaults = sourceDefinitionSchema.parse({});

/** Runs one source of any kind, and owns its status. Knows of no other source [LIFE-8]. */
export class Lifecycle implements Source {
  readonly source: SourceRecord;
  readonly #input: LifecycleInput;
  readonly #opened: OpenSource;
  readonly #health = new HealthRecord();
  readonly #schedule: RefreshSchedule;
  readonly #persistence: Persistence;
  #status: SourceStatus = { state: 'stopped' };
  /** Derived from the status. A field, because every call reads it. */
  #isAvailable = false;
  /** In epoch milliseconds, like the lines of the log. */
  #startedAt = 0;
  #stopping = new AbortController();
  #starting: Promise<void> | undefined;
  #halting: Promise<void> | undefined;

  constructor(input: LifecycleInput) {
    const { resilience, refresh_interval_ms: intervalMs } = input.source.definition ?? defaults;
    this.source = input.source;
    this.#input = input;
    this.#opened = input.open(this.#host());
    this.#schedule = createRefreshSchedule({ intervalMs, refresh: () => this.#refreshOnSchedule() });
    this.#persistence = createPersistence({
      start: (quietly) => this.#startOnce(quietly),
      // A start by somebody else replaces the retries.
      isOver: () => !isIncomplete(this.#status),
      restart: resilience.restart,
      elsewhere: this.#opened.elsewhere,
      onPause: (retryAt) => {
        if (isIncomplete(this.#status)) this.#setStatus({ ...this.#status, retry_at: retryAt.toISOString() });
      },
      enginePauseMs: input.enginePauseMs,
    });
  }

  /** The callbacks through which the kind of source reports. */
  #host(): SourceHost {
    const { note, onNotice, onDiscovered, onOffersChanged, countTools } = this.#input;
    return {
      health: this.#health,
      note,
      notice: onNotice,
      discovered: onDiscovered,
      offersChanged: (what) => onOffersChanged?.(what),
      countTools,
      ready: (tools, message) => this.#setStatus({ state: 'running', tools, ...(message === undefined ? {} : { message }) }),
      waiting: (message) => (this.#status.state === 'starting' ? this.#setStatus({ state: 'starting', message }) : note(message)),
      lost: (reason) => {
        this.#health.failed(reason);
        this.#setStatus({ state: 'restarting' });
        onNotice('restarted');
      },
      gaveUp: (reason) => this.#gaveUp(reason),
    };
  }

  get status(): SourceStatus {
    const status = this.#status;
    if (status.state !== 'starting' || status.message !== undefined) return status;
    const message = this.#opened.startingMessage?.(this.#startedAt);
    return message === undefined ? status : { ...status, message };
  }

  get health() {
    return this.#health.health;
  }

  get info() {
    return this.#opened.info;
  }

  get imported() {
    return this.#opened.imported ?? null;
  }

  get sessions() {
    return this.#opened.sessions;
  }

  get outdatedSecrets() {
    return this.#opened.outdatedSecrets ?? [];
  }

  /**
   * [LIFE-3] Resolves when the source is proven ready and its tools are in the inventory; rejects with the reason if not. A temporary
   * failure is retried until somebody starts or stops the source: always for remote sources, [ERR-2] always if only the container engine is
   * down, and for every source with `persistent`.
   */
  async start({ persistent = false } = {}): Promise<void> {
    try {
      await this.#startOnce(false);
    } catch (error) {
      const goesOn = persistent || this.#opened.elsewhere || error instanceof EngineUnavailableError;
      if (goesOn && isIncomplete(this.#status)) this.#persistence.goOn(error);
      if (this.#status.state !== 'running') throw error;
    }
  }

  #startOnce(quietly: boolean): Promise<void> {
    // Concurrent requests share one start, unless that start is being stopped.
    if (this.#starting !== undefined && !this.#stopping.signal.aborted) return this.#starting;
    const started = this.#startNow(quietly).finally(() => {
      if (this.#starting === started) this.#starting = undefined;
    });
    this.#starting = started;
    return started;
  }

  /** Rejects also if the source runs but something is missing, so that the start is retried. */
  async #startNow(quietly: boolean): Promise<void> {
    const goesOn = this.#opened.servesWhileStarting && this.#isAvailable;
    // Set before the first await: a stop from now on is meant for this start.
    if (!goesOn || this.#stopping.signal.aborted) this.#stopping = new AbortController();
    const { signal } = this.#stopping;
    if (this.#halting !== undefined) await this.#halting;
    let missing: CribError | undefined;
    try {
      signal.throwIfAborted();
      // Quiet attempts keep the error status: with `starting` the tools would come and go with every attempt.
      if (!quietly && !goesOn) this.#setStatus({ state: 'starting' });
      missing = await this.#opened.start(signal);
    } catch (error) {
      if (signal.aborted) throw new CribError('CONFLICT', 'The source was stopped while it was starting', { cause: error });
      const failure = toCribError(error);
      // Failures that were already reported are not reported again.
      if (!quietly || !(failure instanceof EngineUnavailableError || this.#isKnown(failure))) this.#failed(failure);
      throw failure;
    }
    this.#schedule.start();
    if (missing !== undefined) throw missing;
    if (quietly) this.#input.note('The source is available again.');
  }

  #setStatus(next: SourceStatus): void {
    if (next.state === 'starting' && this.#status.state !== 'starting') this.#startedAt = Date.now();
    this.#status = next;
    this.#isAvailable = isAvailable(next);
    this.#input.onStatus(next);
  }

  #failed(reason: CribError): void {
    const { code, message, summary = message, lastWords } = reason;
    this.#opened.startFailed?.(reason);
    this.#input.note(`Failed: ${summary}`);
    // The log already has the last lines of the program.
    this.#setStatus({ state: 'error', code, message, ...(lastWords && { summary, last_words: lastWords }) });
  }

  /** Whether the status already shows this failure. */
  #isKnown({ code, message }: CribError): boolean {
    return this.#status.state === 'error' && this.#status.code === code && this.#status.message === message;
  }

  #gaveUp(reason: CribError): void {
    this.#failed(reason);
    if (this.#opened.elsewhere) this.#persistence.goOn(reason.cause);
    // [MCP-10] The source is not retried, so its resources are released.
    else if (this.#starting === undefined) void this.#halt(reason);
  }

  /** [INV-1] Asks for the tools again. */
  async refresh(): Promise<void> {
    if (!this.#isAvailable) throw new CribError('CONFLICT', 'The source is not running: start it first');
    // A source that could not be reached may be reachable by now: start it again.
    await (this.#opened.reachable ? this.#opened.refresh(this.#stopping.signal) : this.start());
  }

  async #refreshOnSchedule(): Promise<void> {
    // A restart reads the tools anyway.
    if (this.#status.state !== 'running' || !this.#opened.reachable) return;
    const { signal } = this.#stopping;
    await this.#opened.refresh(signal).catch((error: unknown) => {
      if (!signal.aborted) this.#input.note(`The tools could not be refreshed, so the last known ones stay: ${toCribError(error).message}`);
    });
  }

  /** Not async: a call of a cheap built-in tool must not cost a turn of the event loop. */
  call(tool: Tool, args: JsonObject, context: CallContext): ToolOutput | Promise<ToolOutput> {
    if (!this.#isAvailable) throw new CribError('SERVICE_UNAVAILABLE', 'The source is not running');
    const output = this.#opened.call(tool, args, context);
    return output instanceof Promise && this.#opened.hasHealth ? this.#watched(output, context, this.#stopping.signal) : output;
  }

  startCall(tool: Tool, args: JsonObject, context: CallContext, outcome: CallOutcome): boolean {
    const { startCall } = this.#opened;
    if (startCall === undefined || !this.#isAvailable) return false;
    const stopped = this.#stopping.signal;
    return startCall(tool, args, context, {
      answered: (output) => {
        this.#answered();
        outcome.answered(output);
      },
      failed: (error) => outcome.failed(this.#reasonOf(error, context, stopped)),
    });
  }

  /** Updates the health of the source from the outcome of a call. */
  async #watched(output: Promise<ToolOutput>, context: CallContext, stopped: AbortSignal): Promise<ToolOutput> {
    try {
      const answer = await output;
      this.#answered();
      return answer;
    } catch (error) {
      throw this.#reasonOf(error, context, stopped);
    }
  }

  #answered(): void {
    if (this.#health.health !== 'healthy') this.#health.succeeded();
  }

  #reasonOf(error: unknown, context: CallContext, stopped: AbortSignal): unknown {
    // A cancelled call says nothing about the health of the server, and neither does our own stop.
    if (context.signal.aborted) return error;
    if (stopped.aborted) return stopped.reason;
    if (error instanceof CribError) this.#callFailed(error);
    return error;
  }

  #callFailed(error: CribError): void {
    const { code, upstreamStatus: status } = error;
    // [ID-5] A user's missing rights say nothing about the source, and must not affect other users.
    if (this.#opened.perUser && (code === 'UNAUTHENTICATED' || code === 'FORBIDDEN')) error.origin = 'caller';
    const origin = originOfFailure(error);
    // A failure reported by the tool, or a status such as 429, means that the service is healthy.
    if (origin === 'tool' || (origin === 'source' && status !== undefined && isPassing(status))) this.#health.succeeded();
    else if (origin === 'source') this.#health.failed(error);
  }

  /** [INV-6] Called when the connection used for discovery has changed; leaves the sessions of users alone. */
  async reconnect(): Promise<void> {
    // A start under way may have read the connection before it changed.
    await this.#starting?.catch(() => undefined);
    await this.start();
  }

  /** [ENV-1] Resolves when no call can begin with an old value any more, unless the source is configured to keep it. */
  async secretsChanged(): Promise<SecretsFollowed> {
    const followed = (await this.#opened.secretsChanged?.()) ?? 'unaffected';
    const status = this.#status;
    // A server that refused our credential may accept the new one; nothing else would retry.
    const isRefused = status.state === 'error' && (status.code === 'UNAUTHENTICATED' || status.code === 'FORBIDDEN');
    if (!isRefused) return followed;
    void this.#startOnce(true).catch(() => undefined);
    return 'renewed';
  }

  /** [MCP-5] Closes the sessions of a user whose credential was removed or changed. */
  async endSessionsOf(owner: string): Promise<void> {
    await this.#opened.endSessionsOf?.(owner);
  }

  /** [LIFE-4] Resolves when the source has ended completely. */
  stop(state: 'stopped' | 'disabled'): Promise<void> {
    return this.#halt(new CribError('SERVICE_UNAVAILABLE', 'The source is being stopped'), state);
  }

  #halt(reason: CribError, state?: 'stopped' | 'disabled'): Promise<void> {
    const halted = this.#haltNow(reason)
      .then(() => (state === undefined ? undefined : this.#setStatus({ state })))
      .finally(() => {
        if (this.#halting === halted) this.#halting = undefined;
      });
    this.#halting = halted;
    return halted;
  }

  async #haltNow(reason: CribError): Promise<void> {
    this.#persistence.end(reason);
    this.#stopping.abort(reason);
    await Promise.all([this.#starting?.catch(() => undefined), this.#schedule.stop()]);
    await this.#opened.close(reason);
  }

  close(): Promise<void> {
    return this.stop('stopped');
  }
}

/** Whether the status means that the service is up, but the request should be repeated later. */
function isPassing(status: number): boolean {
  return status === 408 || status === 425 || status === 429;
}

/** Whether a start should be retried: the source failed, or runs with something missing. */
function isIncomplete(status: SourceStatus): status is Extract<SourceStatus, { state: 'error' | 'running' }> {
  return status.state === 'error' || (status.state === 'running' && status.message !== undefined);
}
