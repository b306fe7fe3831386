import { JobLeftError } from '../durable/job-left-error.ts';
import type { Steps } from '../durable/steps.ts';
import { CribError } from '../model/crib-error.ts';
import { EndSwitch, type CallSignal } from '../model/end-signal.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { TimeoutError } from '../model/named-errors.ts';
import type { Principal } from '../model/principal.ts';
import type { TraceContext } from '../model/trace-context.ts';
import type { Span } from '../model/tracing.ts';
import type { Tool } from '../model/tool.ts';
import type { CallOutcome } from '../model/call-outcome.ts';
import type { CallVia, RawText, ToolOutput } from '../model/call.ts';
import type { CallContext } from '../sources/source.ts';
import { deadlines, type Deadline } from './deadlines.ts';
import type { Turn } from './turns.ts';

/** What a call tells its caller while it runs. */
export type CallEvent =
  | { type: 'progress'; progress: number; total?: number; message?: string }
  | { type: 'log'; level: 'debug' | 'info' | 'warning' | 'error'; data: Json }
  | { type: 'elicitation'; elicitation_id: string; request: JsonObject };

/** [DOOR-5] How a door whose clients can be asked for anything passes on the questions of a server. */
export type AskClient = (method: string, params: JsonObject, key: string | undefined) => Promise<JsonObject>;

/** Why a call was ended before its source answered. */
export type EndReason = 'cancelled' | 'timed_out';

/** Waits for a call. */
export interface CallWaiter extends CallOutcome {
  /** May repair a failure within the same time; undefined where nothing can be done about it. Asked once. */
  recover(error: unknown): Promise<ToolOutput> | undefined;
}

/**
 * One call between its start and its answer: the context its source reads, the outcome its source reports to, and its own deadline. Its
 * signal is made when a source asks for it, and its deadline is set when a source does not answer at once: most calls of quick tools pay for
 * neither.
 */
export class RunningCall implements CallContext, CallOutcome, Deadline {
  readonly callId: string;
  readonly principal: Principal;
  readonly tool: Tool;
  readonly policies: string;
  readonly policyRevision: number;
  readonly startedAt: number;
  readonly timeoutMs: number;
  /** [MCP-9] However much progress there is, it ends by then. */
  readonly maxTimeoutMs: number;
  /** Set by a door that passes events on to its caller. */
  onEvent: ((event: CallEvent) => void) | undefined;
  /** Set by a door whose clients answer requests of servers; questions do not become events then. */
  onAsk: AskClient | undefined;
  clientCapabilities: JsonObject | undefined;
  isForewarned = false;
  /** [EXEC-7] Its way past the limits of its tool and source, where there are any. */
  turn: Turn | undefined;
  /** [OPS-1] Where traces are wanted, from its admission to its record. */
  readonly span: Span | undefined;
  readonly trace: TraceContext | undefined;
  /** [DOOR-3] Undefined for the REST API. */
  readonly via: CallVia | undefined;
  /** [POLL-2] [WF-2] The steps it has done so far, where it goes on after a crash. */
  steps: Steps | undefined;
  /** [POLL-2] [WF-2] Whether it goes on after a crash. */
  readonly isDurable: boolean;
  /** Whether it was admitted by a run before this one. */
  readonly resumed: boolean;
  /** Whether it counts towards the limits of its caller. Steps count with their call, and resumed calls were counted before. */
  readonly counted: boolean;
  readonly keepsRedirects: boolean;
  /** True while it waits for a free place. */
  queued = false;
  /** True once its source has been asked, or is about to be: only then can it have taken effect. */
  begun = false;
  /** [SEC-4] Whether it has been noted that it runs; `soon` where it was seen once. */
  noted: 'no' | 'soon' | 'yes' = 'no';
  /** Why it has no answer of its tool. */
  failure: CribError | undefined;
  /** How often its source was asked. */
  attempts = 1;
  /** Whether the caller gave it less time than it would have had. */
  readonly shortened: boolean;
  /** True once the source has not answered at once: from here on it can be cancelled. */
  pending = false;
  /** Where it stands among those that run. */
  place = -1;
  deadlinePlace = -1;
  endsAt = 0;
  /** The text of its output as the source wrote it, where that saves writing it again. */
  rawText: RawText | undefined;
  #signal: EndSwitch | undefined;
  #ended: EndReason | undefined;
  #left: JobLeftError | undefined;
  /** Who waits; undefined once it has an outcome. */
  #waiter: CallWaiter | undefined;
  #recovering = false;
  #waitsSince = 0;
  #asked = 0;
  #questions: Map<string, (answer: JsonObject) => void> | undefined;

  constructor(call: RunningCallInput) {
    this.callId = call.callId;
    this.principal = call.principal;
    this.tool = call.tool;
    this.policies = call.policies;
    this.policyRevision = call.policyRevision;
    this.startedAt = call.startedAt;
    this.timeoutMs = call.timeoutMs;
    this.maxTimeoutMs = call.maxTimeoutMs;
    this.isDurable = call.tool.durable;
    this.shortened = call.shortened ?? false;
    this.resumed = call.resumed ?? false;
    this.counted = call.counted ?? true;
    this.keepsRedirects = call.keepsRedirects ?? false;
    this.via = call.via;
    this.span = call.span;
    this.trace = call.span?.context ?? call.trace;
  }

  get signal(): CallSignal {
    this.#signal ??= new EndSwitch();
    const over = this.#over;
    if (over !== undefined) this.#signal.end(over);
    return this.#signal;
  }

  get endedEarly(): EndReason | undefined {
    return this.#ended;
  }

  /** True once this server has left the call to another one or to a later start. */
  get isLeft(): boolean {
    return this.#left !== undefined;
  }

  get #over(): Error | undefined {
    return this.#left ?? (this.#ended && endError(this.#ended, this));
  }

  /** How much of its time is left, once its source is waited for. */
  get leftMs(): number {
    return this.endsAt - performance.now();
  }

  progress(update: { progress: number; total?: number; message?: string }): void {
    this.#allow(this.timeoutMs);
    this.onEvent?.({ type: 'progress', ...update });
  }

  log(level: 'debug' | 'info' | 'warning' | 'error', data: Json): void {
    this.onEvent?.({ type: 'log', level, data });
  }

  async askClient(method: string, params: JsonObject, key?: string): Promise<JsonObject> {
    if (this.onAsk === undefined)
      throw new CribError('SERVICE_UNAVAILABLE', `The caller's client does not offer ${method}`, { retryable: false });
    // A person or a model answers, so the call may take as long as a call may take at all.
    this.#allow(this.maxTimeoutMs);
    const answer = await this.onAsk(method, params, key);
    this.#allow(this.timeoutMs);
    return answer;
  }

  elicit(request: JsonObject, key?: string): Promise<JsonObject> {
    if (this.onAsk !== undefined) return this.askClient('elicitation/create', request, key);
    const ask = this.onEvent;
    if (ask === undefined) return Promise.resolve({ action: 'decline' });
    // A person answers, so the call may take as long as a call may take at all.
    this.#allow(this.maxTimeoutMs);
    const elicitationId = String(++this.#asked);
    return new Promise((resolve) => {
      this.#questions ??= new Map();
      this.#questions.set(elicitationId, resolve);
      ask({ type: 'elicitation', elicitation_id: elicitationId, request });
    });
  }

  /** The caller's answer to a question; false when there is no such question or it was answered before. */
  answer(elicitationId: string, answer: JsonObject): boolean {
    const resolve = this.#questions?.get(elicitationId);
    if (resolve === undefined) return false;
    this.#questions?.delete(elicitationId);
    this.#allow(this.timeoutMs);
    resolve(answer);
    return true;
  }

  /** Restarts the timeout, within the rest of the longest time. */
  #allow(ms: number): void {
    if (this.#waiter === undefined) return;
    this.endsAt = Math.min(performance.now() + ms, this.#waitsSince + this.maxTimeoutMs);
    deadlines.closer(this);
  }

  /**
   * Waits for the source, but never past the deadline or a cancel: a source that ignores its signal holds nobody up. Where there is no
   * promise of the output, the source reports to the call itself.
   */
  wait(output: Promise<ToolOutput | undefined> | undefined, waiter: CallWaiter): void {
    this.pending = true;
    this.#waiter = waiter;
    this.#waitsSince = performance.now();
    this.endsAt = this.#waitsSince + Math.min(this.timeoutMs, this.maxTimeoutMs);
    deadlines.add(this);
    output?.then(
      (value) => value !== undefined && this.answered(value),
      (error: unknown) => this.failed(error),
    );
    // In a microtask, so that an answer that is there already wins.
    const over = this.#over;
    if (over !== undefined) queueMicrotask(() => this.#settled()?.failed(over));
  }

  /** An outcome that comes after the deadline or a cancel has no effect. */
  answered(output: ToolOutput): void {
    // Nobody waits before the source has been asked.
    if (this.pending) this.#settled()?.answered(output);
    else queueMicrotask(() => this.#settled()?.answered(output));
  }

  failed(failure: unknown): void {
    if (this.pending) this.#fail(failure);
    else queueMicrotask(() => this.#fail(failure));
  }

  #fail(failure: unknown): void {
    const recovery = this.#recovering ? undefined : this.#waiter?.recover(failure);
    if (recovery === undefined) return this.#settled()?.failed(failure);
    this.#recovering = true;
    recovery.then(
      (output) => this.answered(output),
      (error: unknown) => this.#fail(error),
    );
  }

  #settled(): CallWaiter | undefined {
    const waiter = this.#waiter;
    if (waiter === undefined) return undefined;
    this.#waiter = undefined;
    deadlines.remove(this);
    // A source that goes on after its call was answered must not write into an answer that has been sent.
    this.onEvent = undefined;
    this.onAsk = undefined;
    return waiter;
  }

  expire(): void {
    this.end('timed_out');
  }

  end(reason: EndReason): void {
    if (this.#over !== undefined) return;
    this.#ended = reason;
    this.#stop(endError(reason, this));
  }

  /** Leaves the call to another server or a later start; it has no answer here. */
  leave(): void {
    if (this.#over !== undefined) return;
    this.#left = new JobLeftError();
    this.#stop(this.#left);
  }

  #stop(error: Error): void {
    // The caller is told before the source: one that rejects at once on its signal would otherwise put its own error in place of ours.
    this.#settled()?.failed(error);
    this.#signal?.end(error);
  }
}

type RunningCallInput = Pick<
  RunningCall,
  'callId' | 'principal' | 'tool' | 'policies' | 'policyRevision' | 'startedAt' | 'timeoutMs' | 'maxTimeoutMs'
> & {
  shortened?: boolean;
  resumed?: boolean;
  counted?: boolean;
  keepsRedirects?: boolean;
  via?: CallVia | undefined;
  span?: Span | undefined;
  trace?: TraceContext | undefined;
};

function endError(reason: EndReason, call: RunningCall): CribError {
  if (reason === 'cancelled') return new CribError('SERVICE_UNAVAILABLE', 'The call was cancelled', { retryable: false });
  const what = call.queued ? 'had no free place' : 'did not answer';
  return new TimeoutError(`${call.tool.name} ${what} within ${call.timeoutMs} ms`);
}
