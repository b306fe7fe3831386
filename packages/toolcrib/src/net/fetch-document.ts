import type { Agent } from 'undici';
import { CribError } from '../model/crib-error.ts';
import { checkAddress } from './check-address.ts';
import { acceptedEncodings, readDecodedText, tooLarge } from './read-decoded-text.ts';
import { fetchFailure } from './request-failure.ts';

interface FetchDocumentOptions {
  /** Counted on the decoded body. */
  maxBytes: number;
  /** For everything together: connecting, the headers and the whole body. */
  timeoutMs: number;
  /** The longest silence; `timeoutMs` where nothing is said, at most 10 seconds. */
  idleMs?: number;
  /** Allows plain http to other machines. */
  allowInsecure?: boolean;
  accept?: string;
  signal?: AbortSignal;
}

interface FetchedDocument {
  status: number;
  contentType: string;
  body: string;
}

export type FetchDocument = (url: string | URL, options: FetchDocumentOptions) => Promise<FetchedDocument>;

let agent: Agent | undefined;

/**
 * Fetches one document of bounded size. Redirects are refused rather than followed: an address is checked once, and it must be the
 * address that answers. Statuses of 400 and above are the caller's to judge.
 */
export const fetchDocument: FetchDocument = async (url, options) => {
  const target = checkAddress(url, options.allowInsecure ?? false);
  const { maxBytes, timeoutMs, signal } = options;
  const idleMs = options.idleMs ?? Math.min(timeoutMs, 10_000);
  const deadline = AbortSignal.timeout(timeoutMs);
  // Never the query string: it may carry a key.
  const name = `${target.origin}${target.pathname}`;
  try {
    // Loaded on first use: a server without a remote issuer never needs it.
    const { Agent, request } = await import('undici');
    // Our own agent, so that nothing else in the process (a global dispatcher, a proxy setting) decides where requests go.
    agent ??= new Agent();
    const response = await request(target, {
      dispatcher: agent,
      method: 'GET',
      headers: { accept: options.accept ?? '*/*', 'accept-encoding': acceptedEncodings, 'user-agent': 'toolcrib' },
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
      // Documents are fetched rarely; an idle connection kept for the next one would only delay the shutdown of both ends.
      reset: true,
    });
    const { statusCode: status, headers, body } = response;
    // A body that is given up half-way reports that as an error, which has nowhere else to go.
    body.on('error', () => undefined);
    try {
      if (status >= 300 && status < 400) {
        throw new CribError('NETWORK_ERROR', 'It answered with a redirect, which is not followed: give the final address', {
          upstreamStatus: status,
        });
      }
      if (Number(headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
      return {
        status,
        contentType: String(headers['content-type'] ?? ''),
        body: await readDecodedText(body, String(headers['content-encoding'] ?? ''), maxBytes),
      };
    } finally {
      body.destroy();
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (deadline.aborted) throw new CribError('SERVICE_UNAVAILABLE', `${name} took longer than ${timeoutMs} ms`, { cause: error });
    throw fetchFailure(name, error);
  }
};
