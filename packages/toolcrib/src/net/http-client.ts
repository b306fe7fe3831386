import type { Dispatcher, Pool } from 'undici';
import { CribError } from '../model/crib-error.ts';
import { ProtocolError } from '../model/named-errors.ts';
import { requestFailure } from './request-failure.ts';

export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Within the client's origin. */
  url: URL;
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal | undefined;
}

export interface HttpResponse {
  status: number;
  /** The one value of a header, or the empty string. */
  header(name: string): string;
  /** Must be read to its end or given up: until then it holds a connection. */
  body: Dispatcher.ResponseData['body'];
}

/** [SEC-1] Requests to one origin over kept connections, for conversations that are longer than one document. */
export interface HttpClient {
  request(request: HttpRequest): Promise<HttpResponse>;
  /** Cuts every connection, whatever is still being read. */
  destroy(): Promise<void>;
}

const redirects = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 5;

/**
 * Neither the headers nor the body of an answer have a time limit here: a tool may take minutes, and a stream may be silent for hours.
 * Whoever asks sets the limit with the signal.
 */
export function createHttpClient({ origin, maxConnections = 256 }: { origin: string; maxConnections?: number }): HttpClient {
  let pool: Pool | undefined;
  let destroyed = false;

  // Loaded on first use: a server without remote sources never needs it.
  async function openPool(): Promise<Pool> {
    const { Pool: HttpPool } = await import('undici');
    const options = { connections: maxConnections, headersTimeout: 0, bodyTimeout: 0, connectTimeout: 10_000, allowH2: false };
    pool ??= new HttpPool(origin, options);
    return pool;
  }

  async function send({ method, url, headers, body, signal }: HttpRequest): Promise<Dispatcher.ResponseData> {
    const connections = pool ?? (await openPool());
    if (destroyed) throw new CribError('NETWORK_ERROR', `The connection to ${origin} has been closed`);
    const path = `${url.pathname}${url.search}`;
    return connections.request({ method, path, headers, body: body ?? null, signal: signal ?? null });
  }

  return {
    async request(request) {
      let { url } = request;
      for (let followed = 0; ; followed++) {
        try {
          const { statusCode, headers, body } = await send({ ...request, url });
          // What is given up half-way reports that as an error, which has nowhere else to go.
          body.on('error', () => undefined);
          const header = (name: string) => String(headers[name] ?? '');
          if (redirects.has(statusCode)) {
            url = redirectTarget(request.method, url, statusCode, header('location'), followed);
            await body.dump();
            continue;
          }
          if (!['', 'identity'].includes(header('content-encoding'))) {
            body.destroy();
            throw new ProtocolError(`${origin} answered with a content encoding that was not asked for`);
          }
          return { status: statusCode, header, body };
        } catch (error) {
          request.signal?.throwIfAborted();
          throw requestFailure(origin, error);
        }
      }
    },
    async destroy() {
      destroyed = true;
      await pool?.destroy();
    },
  };
}

/** Only within the origin that was registered, and never with another method: a header with a secret goes nowhere else. */
function redirectTarget(method: string, from: URL, status: number, location: string, followed: number): URL {
  const target = URL.parse(location, from.href);
  const keepsMethod = method === 'GET' || status === 307 || status === 308;
  if (target !== null && keepsMethod && target.origin === from.origin && followed < maxRedirects) return target;
  throw new CribError('NETWORK_ERROR', `${from.origin} answered with a redirect that is not followed: register the final address`, {
    upstreamStatus: status,
  });
}
