import { CribError } from '../model/crib-error.ts';
import type { EndSignal } from '../model/end-signal.ts';
import { ProtocolError } from '../model/named-errors.ts';
import { HttpConnections } from './http-connections.ts';
import { HttpExchange, type HttpReceiver, type HttpResponse } from './http-exchange.ts';
import { passingOverContinue } from './pass-over-continue.ts';
import { proxyRefusal } from './proxy.ts';
import { requestFailure } from './request-failure.ts';
import type { OpenWayOut, WayOut } from './way-out.ts';

export interface HttpRequest {
  method: string;
  /** Within the client's origin. As text it is the path with its query, sent exactly as it is. */
  url: URL | string;
  headers: Record<string, string>;
  body?: string | Buffer | undefined;
  /** False where a redirect is returned like any other answer. */
  followRedirects?: boolean | undefined;
  /** Whether the caller can read an answer that is compressed without having been asked to be. */
  takesEncoded?: boolean | undefined;
  signal?: EndSignal | undefined;
}

/** [SEC-1] Requests to one origin over persistent connections, for more than fetching one document. */
export interface HttpClient {
  readonly origin: string;
  request(request: HttpRequest): Promise<HttpResponse>;
  /** The same without a promise; the request is under way when it returns, except for the first. */
  send(request: HttpRequest, receiver: HttpReceiver): void;
  /** Cuts every connection, even while an answer is being read. */
  destroy(): Promise<void>;
}

const redirects = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 5;

interface Opened {
  connections: HttpConnections;
  proxy: WayOut['proxy'];
}

interface HttpClientInput {
  open: OpenWayOut;
  origin: string;
  maxConnections?: number;
  refuseLoopback?: boolean;
}

/**
 * Neither the headers nor the body of an answer have a time limit here: a tool may take minutes, and a stream may be silent for hours.
 * The caller sets the limit with the signal.
 */
export function createHttpClient({ open, origin, maxConnections = 256, refuseLoopback = false }: HttpClientInput): HttpClient {
  let opened: Opened | undefined;
  let destroyed = false;

  async function openConnections(): Promise<Opened> {
    const { connect, proxy } = await open({ origin, refuseLoopback });
    const { Client: ClientOf } = await import('./undici.ts');
    const input = { origin, most: maxConnections, connect: passingOverContinue(connect), ClientOf };
    opened ??= { connections: new HttpConnections(input), proxy };
    if (destroyed) await opened.connections.destroy();
    return opened;
  }

  function send(request: HttpRequest, receiver: HttpReceiver): void {
    const sending = new Sending(origin, request, receiver);
    if (opened !== undefined) sending.start(opened);
    else
      openConnections().then(
        (through) => sending.start(through),
        (error: unknown) => sending.failed(error),
      );
  }

  return {
    origin,
    request: (request) => new Promise((answered, failed) => send(request, { answered, failed })),
    send,
    async destroy() {
      destroyed = true;
      await opened?.connections.destroy();
    },
  };
}

/** One request, with the redirects that it follows. */
class Sending implements HttpReceiver {
  readonly #origin: string;
  readonly #request: HttpRequest;
  readonly #receiver: HttpReceiver;
  #url: URL | string;
  #through: Opened | undefined;
  #followed = 0;

  constructor(origin: string, request: HttpRequest, receiver: HttpReceiver) {
    this.#origin = origin;
    this.#request = request;
    this.#url = request.url;
    this.#receiver = receiver;
  }

  start(through: Opened): void {
    this.#through = through;
    const { connections, proxy } = through;
    const { method, headers, body = null, signal } = this.#request;
    if (signal?.aborted === true) return this.failed(signal.reason);
    if (connections.destroyed) return this.failed(new CribError('NETWORK_ERROR', `The connection to ${this.#origin} has been closed`));
    const url = this.#url;
    const path = typeof url === 'string' ? url : `${url.pathname}${url.search}`;
    const exchange = new HttpExchange(this, signal);
    if (proxy === undefined) connections.dispatch({ method, path, headers, body }, exchange);
    // RFC 9112 §3.2.2: a proxy gets the whole address.
    else connections.dispatch({ method, path: `${this.#origin}${path}`, headers: { ...headers, ...proxy.headers }, body }, exchange);
  }

  answered(response: HttpResponse): void {
    const { status, body } = response;
    const { followRedirects, takesEncoded } = this.#request;
    const proxy = this.#through?.proxy;
    if (status === 407 && proxy !== undefined) {
      body.destroy();
      return this.failed(proxyRefusal(proxy.url, status));
    }
    if (redirects.has(status) && followRedirects !== false) return void this.#follow(response);
    const encoding = response.header('content-encoding');
    if (encoding !== '' && encoding !== 'identity' && takesEncoded !== true) {
      body.destroy();
      return this.failed(new ProtocolError(`${this.#origin} answered with a content encoding that was not asked for`));
    }
    this.#receiver.answered(response);
  }

  failed(error: unknown): void {
    const { signal } = this.#request;
    this.#receiver.failed(signal?.aborted === true ? signal.reason : requestFailure(this.#origin, error));
  }

  async #follow({ status, header, body }: HttpResponse): Promise<void> {
    try {
      const from = typeof this.#url === 'string' ? new URL(`${this.#origin}${this.#url}`) : this.#url;
      this.#url = redirectTarget(this.#request.method, from, status, header('location'), this.#followed++);
    } catch (error) {
      return this.failed(error);
    }
    await body.dump();
    if (this.#through !== undefined) this.start(this.#through);
  }
}

/** Only within the registered origin, and never with another method: a header with a secret is sent nowhere else. */
function redirectTarget(method: string, from: URL, status: number, location: string, followed: number): URL {
  const target = location === '' ? null : URL.parse(location, from.href);
  const keepsMethod = method === 'GET' || method === 'HEAD' || status === 307 || status === 308;
  if (target !== null && keepsMethod && target.origin === from.origin && followed < maxRedirects) return target;
  throw new CribError('NETWORK_ERROR', `${from.origin} answered with a redirect that is not followed: register the final address`, {
    upstreamStatus: status,
  });
}
