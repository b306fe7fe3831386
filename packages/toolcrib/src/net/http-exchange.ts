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

/** One request on its way through the pool, up to the last byte of its answer. The signal ends it at any moment. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  /** Settles with the head of the answer. */
  readonly response: Promise<HttpResponse>;
  readonly #signal: EndSignal | undefined;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #body: HttpBody | undefined;

  constructor(signal: EndSignal | undefined) {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    this.response = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    if (signal?.aborted === true) reject(signal.reason);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal?.aborted === true) this.#onAbort();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Only the final answer counts: RFC 9110 §15.2.
    if (status < 200) return;
    this.#body = new HttpBody(controller);
    this.#resolve({ status, header: (name) => String(headers[name] ?? ''), headers, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#letGo();
    this.#body?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#letGo();
    if (this.#body === undefined) this.#reject(error);
    else this.#body.end(error);
  }

  readonly #onAbort = () => {
    const reason: unknown = this.#signal?.reason;
    this.#reject(reason);
    this.#controller?.abort(reason instanceof Error ? reason : new Error('The request was given up', { cause: reason }));
  };

  #letGo(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}
