import { CribError } from '../../../model/crib-error.ts';
import type { EndSignal } from '../../../model/end-signal.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import { TimeoutError } from '../../../model/named-errors.ts';
import type { McpCallOptions } from './mcp-session.ts';

/**
 * One thing that a caller waits for, and its timeouts: usually one request, sometimes several (pages of a list, rounds of questions). The
 * timeout counts from the last sign of life, up to a total.
 */
export class Exchange {
  readonly isCall: boolean;
  readonly wantsLog: boolean;
  readonly trace: McpCallOptions['trace'];
  readonly clientCapabilities: JsonObject | undefined;
  /** Called when nobody waits for the request in flight any more. */
  onEnd: ((reason: CribError) => void) | undefined;
  readonly #options: McpCallOptions;
  /** On the clock of `performance`. */
  readonly startedAt = performance.now();
  #lastSignAt = this.startedAt;
  /** Each takes back an open question. */
  #questions: Set<(reason: unknown) => void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended: CribError | undefined;

  /** `isCall` for a tool call, in which there may be progress and questions; not for a listing or a ping. */
  constructor(options: McpCallOptions, isCall: boolean) {
    this.isCall = isCall;
    this.wantsLog = options.onLog !== undefined;
    this.trace = options.trace;
    this.clientCapabilities = options.clientCapabilities;
    this.#options = options;
    const { signal } = options;
    if (signal.aborted) this.#ended = cancelled(signal);
    else signal.addEventListener('abort', this.#onAbort, { once: true });
    const limitMs = Math.min(options.timeoutMs, options.maxTotalMs);
    if (limitMs < Infinity) this.#timer = setTimeout(this.#onTimer, limitMs);
  }

  /** Throws when it is over already. */
  check(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  progress(update: { progress: number; total?: number; message?: string }): void {
    this.#lastSignAt = performance.now();
    this.#options.onProgress?.(update);
  }

  log(level: 'debug' | 'info' | 'warning' | 'error', data: Json): void {
    this.#lastSignAt = performance.now();
    this.#options.onLog?.(level, data);
  }

  /** [MCP-13] Puts a question to the caller; undefined where nobody can be asked. */
  ask(request: JsonObject, key?: string): Promise<JsonObject> | undefined {
    return this.#options.onElicit?.(request, key);
  }

  /** [DOOR-5] Puts another request to the caller's client; undefined where there is nobody to ask. */
  askClient(method: string, params: JsonObject, key?: string): Promise<JsonObject> | undefined {
    return this.#options.onAsk?.(method, params, key);
  }

  /** While a person is asked, only the total timeout counts. The question ends with the exchange, answered or not. */
  async whileAsking<Answer>(ask: Promise<Answer>): Promise<Answer> {
    this.check();
    const over = Promise.withResolvers<never>();
    const questions = (this.#questions ??= new Set());
    questions.add(over.reject);
    try {
      return await Promise.race([ask, over.promise]);
    } finally {
      questions.delete(over.reject);
      this.#lastSignAt = performance.now();
    }
  }

  /** Call it however the exchange ends: it releases the timer and the signal. */
  done(): void {
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    this.onEnd = undefined;
    this.#takeBackQuestions();
  }

  readonly #onAbort = () => this.#end(cancelled(this.#options.signal));

  // A sign of life only notes the time; the timer checks it when it fires, so that a flood of progress costs nothing.
  readonly #onTimer = () => {
    const { timeoutMs, maxTotalMs } = this.#options;
    const now = performance.now();
    const whole = this.startedAt + maxTotalMs;
    const until = (this.#questions?.size ?? 0) > 0 ? whole : Math.min(this.#lastSignAt + timeoutMs, whole);
    if (until > now + 1) {
      this.#timer = setTimeout(this.#onTimer, Math.ceil(until - now));
      return;
    }
    const passed = whole <= now + 1 ? maxTotalMs : timeoutMs;
    this.#end(new TimeoutError(`The server did not answer within ${passed} ms`));
  };

  #end(reason: CribError): void {
    this.#ended ??= reason;
    this.onEnd?.(this.#ended);
    this.#takeBackQuestions();
  }

  #takeBackQuestions(): void {
    for (const takeBack of this.#questions ?? []) takeBack(this.#ended);
  }
}

function cancelled(signal: EndSignal): CribError {
  const reason: unknown = signal.reason;
  return reason instanceof CribError ? reason : new CribError('NETWORK_ERROR', 'The call was cancelled', { cause: reason });
}
