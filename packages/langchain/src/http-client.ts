import type { ErrorCode } from 'toolcrib';
import { toolcribError, ToolcribError } from './toolcrib-error.ts';

/**
 * Gives the user's token, for every request anew. `refused` is the one it gave before where Toolcrib has just refused that: what is kept
 * should be renewed then.
 */
export type TokenSource = (refused?: string) => string | Promise<string>;

export interface HttpClientInput {
  /** Where Toolcrib is, such as `https://tools.example.com`. */
  url: string;
  /** The user's own JWT. */
  token: string | TokenSource;
  /** Another way to send requests, such as one through a proxy. */
  fetch?: typeof globalThis.fetch;
}

interface HttpRequest {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface HttpClient {
  readonly url: string;
  /** A good answer, or 304; a refusal is thrown. */
  send(method: 'GET' | 'POST', path: string, request?: HttpRequest): Promise<Response>;
  /** The JSON of an answer. */
  read(response: Response): Promise<unknown>;
}

/** Speaks to one Toolcrib as one user. */
export function createHttpClient({ url, token, fetch = globalThis.fetch }: HttpClientInput): HttpClient {
  const base = addressOf(url);

  async function tokenNow(refused?: string): Promise<string> {
    if (typeof token === 'string') return token;
    try {
      return await token(refused);
    } catch (cause) {
      throw new ToolcribError('UNAUTHENTICATED', `There is no token for the user (${reasonOf(cause)})`, { cause });
    }
  }

  async function attempt(method: string, path: string, { body, headers, signal }: HttpRequest, bearer: string): Promise<Response> {
    try {
      return await fetch(`${base}${path}`, {
        method,
        // The user's token goes to the address that was given, and nowhere else.
        redirect: 'manual',
        headers: {
          authorization: `Bearer ${bearer}`,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
      });
    } catch (cause) {
      signal?.throwIfAborted();
      throw unreachable(base, cause);
    }
  }

  return {
    url: base,
    async send(method, path, request = {}) {
      const bearer = await tokenNow();
      let response = await attempt(method, path, request, bearer);
      if (response.status === 401 && typeof token === 'function') {
        // What is refused for its token has not run, so it can be sent again.
        const renewed = await tokenNow(bearer);
        if (renewed !== bearer) {
          await response.body?.cancel();
          response = await attempt(method, path, request, renewed);
        }
      }
      if (response.ok || response.status === 304) return response;
      throw await refusalFrom(response, base);
    },
    async read(response) {
      try {
        return await response.json();
      } catch (cause) {
        if (cause instanceof SyntaxError) throw new ToolcribError('NETWORK_ERROR', `${base} did not answer as a Toolcrib does.`, { cause });
        throw unreachable(base, cause);
      }
    },
  };
}

function addressOf(url: string): string {
  const address = URL.parse(url);
  if (!address || !/^https?:$/.test(address.protocol) || address.username || address.password || address.search || address.hash) {
    throw new ToolcribError('VALIDATION_ERROR', 'url must be the address of a Toolcrib, such as http://127.0.0.1:7300');
  }
  return `${address.origin}${address.pathname.replace(/\/+$/, '')}`;
}

async function refusalFrom(response: Response, base: string): Promise<ToolcribError> {
  const text = await response.text().catch(() => '');
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const waiting = { retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined };
  return refusalIn(text, waiting) ?? new ToolcribError('NETWORK_ERROR', `${base} answered ${response.status}, but not as a Toolcrib does.`);
}

/** [EXEC-6] `{code, message, field?}`, or undefined where it is something else. */
export function refusalIn(text: string, options: { retryAfterMs?: number } = {}): ToolcribError | undefined {
  try {
    const { code, message } = JSON.parse(text) as { code?: unknown; message?: unknown };
    if (typeof code === 'string' && typeof message === 'string') return toolcribError(code as ErrorCode, message, options);
  } catch {
    // Whoever stands in between has its own pages.
  }
  return undefined;
}

export function unreachable(base: string, cause: unknown): ToolcribError {
  const message = `Toolcrib at ${base} could not be reached, or the connection broke off (${reasonOf(cause)}). It may work later.`;
  return new ToolcribError('NETWORK_ERROR', message, { retryable: true, cause });
}

/** `fetch failed` alone says nothing; what it was is underneath. */
function reasonOf(error: unknown): string {
  const { code, message, cause } = (error ?? {}) as { code?: unknown; message?: unknown; cause?: unknown };
  if (cause !== undefined && cause !== null) return reasonOf(cause);
  return typeof code === 'string' ? code : String(message ?? error);
}
