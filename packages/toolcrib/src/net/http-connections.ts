import type { buildConnector, Client, Dispatcher } from 'undici';
import { CribError } from '../model/crib-error.ts';
import type { HttpExchange, Lease } from './http-exchange.ts';

interface HttpConnectionsInput {
  origin: string;
  /** More requests than these wait for a connection. */
  most: number;
  connect: buildConnector.connector;
  /** Undici's, which is loaded on first use. */
  ClientOf: typeof Client;
}

interface Waiting {
  request: Dispatcher.DispatchOptions;
  exchange: HttpExchange;
}

/**
 * The connections to one origin, each for one request at a time. A pool of undici does the same, but learns by events which of its clients
 * are free; here an exchange gives its connection back. The connection that was used last is used first, so that surplus ones close.
 */
export class HttpConnections {
  readonly #input: HttpConnectionsInput;
  readonly #all: HttpConnection[] = [];
  readonly #free: HttpConnection[] = [];
  readonly #waiting: Waiting[] = [];
  destroyed = false;

  constructor(input: HttpConnectionsInput) {
    this.#input = input;
  }

  dispatch(request: Dispatcher.DispatchOptions, exchange: HttpExchange): void {
    const connection = this.#free.pop() ?? this.#open();
    if (connection === undefined) this.#waiting.push({ request, exchange });
    else connection.dispatch(request, exchange);
  }

  async destroy(): Promise<void> {
    this.destroyed = true;
    const closed = new CribError('NETWORK_ERROR', `The connection to ${this.#input.origin} has been closed`);
    for (const { exchange } of this.#waiting.splice(0)) exchange.onResponseError(null, closed);
    await Promise.all(this.#all.map((connection) => connection.destroy()));
  }

  #open(): HttpConnection | undefined {
    const { origin, most, connect, ClientOf } = this.#input;
    if (this.#all.length >= most) return undefined;
    const client = new ClientOf(origin, { headersTimeout: 0, bodyTimeout: 0, connect });
    const connection = new HttpConnection(client, () => this.#release(connection));
    this.#all.push(connection);
    return connection;
  }

  #release(connection: HttpConnection): void {
    let next = this.#waiting.shift();
    while (next?.exchange.isOver === true) next = this.#waiting.shift();
    if (next === undefined) this.#free.push(connection);
    else connection.dispatch(next.request, next.exchange);
  }
}

/** A connection, opened again by the next request after it was lost. */
class HttpConnection implements Lease {
  readonly #client: Client;
  readonly #release: () => void;

  constructor(client: Client, release: () => void) {
    this.#client = client;
    this.#release = release;
  }

  dispatch(request: Dispatcher.DispatchOptions, exchange: HttpExchange): void {
    exchange.lease = this;
    this.#client.dispatch(request, exchange);
  }

  /** For an exchange that is over. After a failure undici has to clean up first. */
  release(isBroken: boolean): void {
    if (isBroken) setImmediate(this.#release);
    else this.#release();
  }

  async destroy(): Promise<void> {
    await this.#client.destroy();
  }
}
