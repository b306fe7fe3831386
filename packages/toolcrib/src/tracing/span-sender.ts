import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { ProtocolError } from '../model/named-errors.ts';

export interface SpanSenderInput {
  /** Sends one batch and resolves with the status of the response. */
  post(batch: ReadableSpan[], signal: AbortSignal): Promise<number>;
  /** Called once when the collector stops accepting spans, and once when it accepts them again. */
  warn(message: string): void;
  maxWaiting?: number;
  batchSize?: number;
  everyMs?: number;
  timeoutMs?: number;
}

/** Statuses worth a retry; any other refusal would be repeated. */
const passing = new Set([429, 502, 503, 504]);
const longestPauseMs = 30_000;

/**
 * [OPS-1] Sends finished spans in batches, without delaying calls. While the collector is slow or down, spans wait in a bounded queue;
 * spans that do not fit are dropped and counted.
 */
export class SpanSender implements SpanProcessor {
  sent = 0;
  dropped = 0;
  readonly #input: Required<SpanSenderInput>;
  readonly #closing = new AbortController();
  #waiting: ReadableSpan[] = [];
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;

  constructor(input: SpanSenderInput) {
    this.#input = { maxWaiting: 8192, batchSize: 256, everyMs: 1000, timeoutMs: 10_000, ...input };
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & 1) === 0) return;
    if (this.#closing.signal.aborted || this.#waiting.length >= this.#input.maxWaiting) {
      this.dropped++;
      return;
    }
    this.#waiting.push(span);
    this.#schedule();
  }

  async forceFlush(): Promise<void> {
    do await (this.#sending ?? this.#send());
    while (this.#waiting.length > 0 && this.#failures === 0);
  }

  /** Sends the spans that wait, for `flushMs` at most. */
  async close(flushMs: number): Promise<void> {
    const timer = setTimeout(() => this.#closing.abort(new Error('The server is stopping')), flushMs);
    await this.forceFlush();
    clearTimeout(timer);
    await this.shutdown();
  }

  async shutdown(): Promise<void> {
    this.#closing.abort(new Error('The server is stopping'));
    clearTimeout(this.#timer);
    await this.#sending;
    this.dropped += this.#waiting.splice(0).length;
  }

  #schedule(): void {
    if (this.#sending !== undefined || this.#waiting.length === 0 || this.#closing.signal.aborted) return;
    if (this.#failures === 0 && this.#waiting.length >= this.#input.batchSize) {
      void this.#send();
      return;
    }
    const pauseMs = Math.min(this.#input.everyMs * 2 ** this.#failures, longestPauseMs);
    this.#timer ??= setTimeout(() => void this.#send(), pauseMs).unref();
  }

  #send(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const sending = this.#sendBatch(this.#waiting.splice(0, this.#input.batchSize)).finally(() => {
      this.#sending = undefined;
      this.#schedule();
    });
    this.#sending = sending;
    return sending;
  }

  async #sendBatch(batch: ReadableSpan[]): Promise<void> {
    if (batch.length === 0) return;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#input.timeoutMs)]);
    try {
      const status = await this.#input.post(batch, signal);
      if (status < 300) this.#succeeded(batch);
      else this.#failed(batch, `it answered with status ${status}`, passing.has(status));
    } catch (error) {
      // After a malformed response the collector may have accepted the spans: no retry.
      this.#failed(batch, error instanceof Error ? error.message : String(error), !(error instanceof ProtocolError));
    }
  }

  #succeeded(batch: ReadableSpan[]): void {
    this.sent += batch.length;
    if (this.#failures > 0) this.#input.warn(`The collector accepts traces again; ${this.dropped} spans have been dropped so far`);
    this.#failures = 0;
  }

  #failed(batch: ReadableSpan[], reason: string, again: boolean): void {
    if (this.#failures === 0) this.#input.warn(`Traces cannot be sent to the collector, and are dropped when the queue is full: ${reason}`);
    this.#failures++;
    if (again) this.#waiting.unshift(...batch);
    this.dropped += again ? this.#waiting.splice(this.#input.maxWaiting).length : batch.length;
  }
}
