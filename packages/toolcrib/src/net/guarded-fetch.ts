import { CribError } from '../model/crib-error.ts';
import { TimeoutError } from '../model/named-errors.ts';
import type { CheckAddress } from './check-address.ts';
import { createHttpClient } from './http-client.ts';
import { readBody } from './read-body.ts';
import type { OpenWayOut } from './way-out.ts';

export interface GuardedFetchOptions {
  /** Allows plain http to other machines. */
  allowInsecure: boolean;
  /** Whether addresses of this machine are allowed. An address that another machine names must not lead back here. */
  allowLoopback: boolean;
  maxBytes?: number;
  timeoutMs?: number;
}

/** The guarded way out in the form of `fetch`, for libraries that want one. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * [SEC-1] Redirects are followed within an origin only, answers are bounded in size and time, and addresses are checked. A failure is a
 * TypeError as with `fetch`, with our error as its cause: that is how libraries tell a broken connection from an answer they may ignore.
 */
export function createGuardedFetch(options: GuardedFetchOptions & { open: OpenWayOut; checkAddress: CheckAddress }): GuardedFetch {
  const { open, checkAddress, allowInsecure, allowLoopback, maxBytes = 262_144, timeoutMs = 10_000 } = options;
  return async (url, init = {}) => {
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const target = checkAddress(url, allowInsecure);
      const client = createHttpClient({ open, origin: target.origin, maxConnections: 1, refuseLoopback: !allowLoopback });
      try {
        const response = await client.request({
          method: methodOf(init),
          url: target,
          headers: Object.fromEntries(new Headers(init.headers)),
          ...(init.body == null ? {} : { body: bodyOf(init.body) }),
          signal: init.signal == null ? deadline : AbortSignal.any([init.signal, deadline]),
        });
        const text = await readBody(response, maxBytes);
        const { status } = response;
        const names = ['content-type', 'www-authenticate', 'dpop-nonce'].filter((name) => response.header(name) !== '');
        const headers = names.map((name): [string, string] => [name, response.header(name)]);
        // The constructor refuses a body for these.
        return new Response(status === 204 || status === 304 ? null : text, { status, headers });
      } finally {
        await client.destroy();
      }
    } catch (error) {
      init.signal?.throwIfAborted();
      if (!deadline.aborted) throw failed(error);
      throw failed(new TimeoutError(`${URL.parse(String(url))?.origin ?? 'It'} did not answer in time`, { cause: error }));
    }
  };
}

function failed(cause: unknown): TypeError {
  return new TypeError('The request failed', { cause });
}

function methodOf({ method = 'GET' }: RequestInit): 'GET' | 'POST' {
  if (method === 'GET' || method === 'POST') return method;
  throw new CribError('INTERNAL', `${method} cannot be sent this way`);
}

function bodyOf(body: NonNullable<RequestInit['body']>): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new CribError('INTERNAL', 'Only text and forms can be sent this way');
}
