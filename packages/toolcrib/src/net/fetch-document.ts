import { CribError } from '../model/crib-error.ts';
import type { CheckAddress } from './check-address.ts';
import { proxyRefusal } from './proxy.ts';
import { acceptedEncodings, readDecodedText, tooLarge } from './read-decoded-text.ts';
import { fetchFailure } from './request-failure.ts';
import type { OpenWayOut } from './way-out.ts';

interface FetchDocumentOptions {
  /** Counted on the decoded body. */
  maxBytes: number;
  /** For everything together: connecting, the headers and the whole body. */
  timeoutMs: number;
  /** The longest silence; by default `timeoutMs`, at most 10 seconds. */
  idleMs?: number;
  /** Allows plain http to other machines. */
  allowInsecure?: boolean;
  accept?: string;
  /** Credentials and the like, which are sent to the origin of the address and to no other. */
  headers?: Readonly<Record<string, string>>;
  /** How many redirects are followed; by default none. */
  redirects?: 0 | 1 | 2 | 3;
  signal?: AbortSignal;
}

interface FetchedDocument {
  status: number;
  contentType: string;
  body: string;
  /** The address after all redirects. */
  url: URL;
}

export type FetchDocument = (url: string | URL, options: FetchDocumentOptions) => Promise<FetchedDocument>;

/** Fetches one document of bounded size. Every address on the way is checked. Statuses of 400 and above are left to the caller. */
export function createFetchDocument({ open, checkAddress }: { open: OpenWayOut; checkAddress: CheckAddress }): FetchDocument {
  return async (url, options) => {
    const { timeoutMs, signal, redirects = 0, allowInsecure = false } = options;
    const deadline = AbortSignal.timeout(timeoutMs);
    let target = checkAddress(url, allowInsecure);
    let { headers } = options;
    try {
      const over = signal ? AbortSignal.any([signal, deadline]) : deadline;
      for (let followed = 0; ; followed++) {
        const found = await fetchOnce(open, target, { ...options, headers, signal: over });
        if ('body' in found) return { ...found, url: target };
        if (followed >= redirects) throw notFollowed(found.status);
        const next = redirectTarget(target, found, (url) => checkAddress(url, allowInsecure));
        // Once dropped, they stay dropped: another origin may have redirected us back.
        if (next.origin !== target.origin) headers = undefined;
        target = next;
      }
    } catch (error) {
      signal?.throwIfAborted();
      // Never the query string: it may carry a key.
      const name = `${target.origin}${target.pathname}`;
      if (deadline.aborted) throw new CribError('SERVICE_UNAVAILABLE', `${name} took longer than ${timeoutMs} ms`, { cause: error });
      throw fetchFailure(name, error);
    }
  };
}

function redirectTarget(from: URL, { status, location }: Redirect, check: (url: string | URL) => URL): URL {
  try {
    const target = check(URL.parse(location, from.href) ?? '');
    // A redirect from https to http would let anyone on the way change the document.
    if (from.protocol === 'http:' || target.protocol === 'https:') return target;
  } catch (cause) {
    const message = `It answered with a redirect that is not followed: ${(cause as Error).message}`;
    throw new CribError('NETWORK_ERROR', message, { upstreamStatus: status, cause });
  }
  throw notFollowed(status);
}

type FetchOnceOptions = Omit<FetchDocumentOptions, 'headers'> & {
  headers: FetchDocumentOptions['headers'] | undefined;
  signal: AbortSignal;
};
interface Redirect {
  status: number;
  location: string;
}
type Found = Omit<FetchedDocument, 'url'> | Redirect;

async function fetchOnce(open: OpenWayOut, target: URL, options: FetchOnceOptions): Promise<Found> {
  const { maxBytes, signal } = options;
  const idleMs = options.idleMs ?? Math.min(options.timeoutMs, 10_000);
  const { connect, proxy } = await open({ origin: target.origin, refuseLoopback: false });
  const { Client } = await import('./undici.ts');
  const client = new Client(target.origin, { connect, headersTimeout: idleMs, bodyTimeout: idleMs });
  try {
    const { statusCode, headers, body } = await client.request({
      method: 'GET',
      // RFC 9112 §3.2.2: a proxy gets the whole address.
      path: `${proxy === undefined ? '' : target.origin}${target.pathname}${target.search}`,
      headers: {
        ...options.headers,
        accept: options.accept ?? '*/*',
        'accept-encoding': acceptedEncodings,
        'user-agent': 'toolcrib',
        ...proxy?.headers,
      },
      signal,
      // Documents are fetched rarely; an idle connection kept for the next one would only delay the shutdown of both ends.
      reset: true,
    });
    // A body that is given up half-way emits an error, which nobody else handles.
    body.on('error', () => undefined);
    try {
      if (proxy !== undefined && statusCode === 407) throw proxyRefusal(proxy.url, statusCode);
      if (statusCode >= 300 && statusCode < 400) return { status: statusCode, location: String(headers['location'] ?? '') };
      if (Number(headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
      return {
        status: statusCode,
        contentType: String(headers['content-type'] ?? ''),
        body: await readDecodedText(body, String(headers['content-encoding'] ?? ''), maxBytes),
      };
    } finally {
      body.destroy();
    }
  } finally {
    await client.destroy();
  }
}

function notFollowed(status: number): CribError {
  return new CribError('NETWORK_ERROR', 'It answered with a redirect, which is not followed: give the final address', {
    upstreamStatus: status,
  });
}
