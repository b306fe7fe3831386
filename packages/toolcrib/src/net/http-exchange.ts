import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { EndSignal } from '../model/end-signal.ts';
import { HttpBody } from './http-body.ts';

export interface HttpResponse {
  status: number;
  /** The one value of a header, or the empty string. */
  header(name: string): string;
  /** All headers, by name in lower case; a list where one came several times. */
  headers: Readonly<IncomingHttpHeaders>;
  /** Must be read to its end or given up: until then it holds a connection. */
  body: HttpBody;
}

/** Learns what became of a request: one of the two is called, once. Neither may throw. */
export interface HttpReceiver {
  /** Called with the head of the answer. */
  answered(response: HttpResponse): void;
  failed(error: unknown): void;
}

/** What an exchange uses until it is over. */
export interface Lease {
  release(isBroken: boolean): void;
}

/** One request on its way, up to the last byte of its answer. The signal ends it at any moment. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly #receiver: HttpReceiver;
  readonly #signal: EndSignal | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #body: HttpBody | undefined;
  #failed = false;
  /** The connection, given back at the end. */
  lease: Lease | undefined;

  constructor(receiver: HttpReceiver, signal: EndSignal | undefined) {
    this.#receiver = receiver;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** It has failed, though its connection may still have to notice. */
  get isOver(): boolean {
    return this.#failed;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal?.aborted === true) this.#onAbort();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Only the final answer counts: RFC 9110 §15.2.
    if (status < 200) return;
    this.#body = new HttpBody(controller);
    this.#receiver.answered({ status, header: (name) => String(headers[name] ?? ''), headers, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#letGo(false);
    this.#body?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#letGo(true);
    if (this.#body === undefined) this.#fail(error);
    else this.#body.end(error);
  }

  readonly #onAbort = () => {
    const reason: unknown = this.#signal?.reason;
    if (this.#body === undefined) this.#fail(reason);
    this.#controller?.abort(reason instanceof Error ? reason : new Error('The request was given up', { cause: reason }));
  };

  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#receiver.failed(error);
  }

  #letGo(isBroken: boolean): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.lease?.release(isBroken);
    this.lease = undefined;
  }
}
