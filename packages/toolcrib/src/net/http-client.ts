import type { Pool } from 'undici';
import { CribError } from '../model/crib-error.ts';
import type { EndSignal } from '../model/end-signal.ts';
import { ProtocolError } from '../model/named-errors.ts';
import { HttpExchange, type HttpResponse } from './http-exchange.ts';
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
  followRedirects?: boolean;
  /** Whether the caller can read an answer that is compressed without having been asked to be. */
  takesEncoded?: boolean;
  signal?: EndSignal | undefined;
}

/** [SEC-1] Requests to one origin over persistent connections, for more than fetching one document. */
export interface HttpClient {
  readonly origin: string;
  request(request: HttpRequest): Promise<HttpResponse>;
  /** Cuts every connection, even while an answer is being read. */
  destroy(): Promise<void>;
}

const redirects = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 5;

interface OpenedPool {
  pool: Pool;
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
  let opened: OpenedPool | undefined;
  let destroyed = false;

  async function openPool(): Promise<OpenedPool> {
    const { connect, proxy } = await open({ origin, refuseLoopback });
    const { Pool: HttpPool } = await import('undici');
    const options = { connections: maxConnections, headersTimeout: 0, bodyTimeout: 0, connect: passingOverContinue(connect) };
    opened ??= { pool: new HttpPool(origin, options), proxy };
    return opened;
  }

  function send({ pool, proxy }: OpenedPool, { method, headers, body, signal }: HttpRequest, url: URL | string): Promise<HttpResponse> {
    if (destroyed) throw new CribError('NETWORK_ERROR', `The connection to ${origin} has been closed`);
    const exchange = new HttpExchange(signal);
    const path = typeof url === 'string' ? url : `${url.pathname}${url.search}`;
    if (proxy === undefined) pool.dispatch({ method, path, headers, body: body ?? null }, exchange);
    // RFC 9112 §3.2.2: a proxy gets the whole address.
    else pool.dispatch({ method, path: `${origin}${path}`, headers: { ...headers, ...proxy.headers }, body: body ?? null }, exchange);
    return exchange.response;
  }

  return {
    origin,
    async request(request) {
      let { url } = request;
      for (let followed = 0; ; followed++) {
        try {
          const through = opened ?? (await openPool());
          const response = await send(through, request, url);
          const { status, body } = response;
          if (status === 407 && through.proxy !== undefined) {
            body.destroy();
            throw proxyRefusal(through.proxy.url, status);
          }
          if (redirects.has(status) && request.followRedirects !== false) {
            url = redirectTarget(
              request.method,
              typeof url === 'string' ? new URL(`${origin}${url}`) : url,
              status,
              response.header('location'),
              followed,
            );
            await body.dump();
            continue;
          }
          const encoding = response.header('content-encoding');
          if (encoding !== '' && encoding !== 'identity' && request.takesEncoded !== true) {
            body.destroy();
            throw new ProtocolError(`${origin} answered with a content encoding that was not asked for`);
          }
          return response;
        } catch (error) {
          if (request.signal?.aborted === true) throw request.signal.reason;
          throw requestFailure(origin, error);
        }
      }
    },
    async destroy() {
      destroyed = true;
      await opened?.pool.destroy();
    },
  };
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
