import type { ErrorCode } from 'toolcrib';
import { toolcribError, ToolcribError } from './toolcrib-error.ts';

/**
 * Returns the user's token; called for every request. `refused` is the previous token if Toolcrib has just refused it: a cached token
 * should then be renewed.
 */
export type TokenSource = (refused?: string) => string | Promise<string>;

export interface HttpClientInput {
  /** The address of Toolcrib, such as `https://tools.example.com`. */
  url: string;
  /** The user's own JWT. */
  token: string | TokenSource;
  /** A replacement for the global `fetch`, for example to use a proxy. */
  fetch?: typeof globalThis.fetch;
}

interface HttpRequest {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface HttpClient {
  readonly url: string;
  /** Resolves with a successful response or a 304; throws a refusal. */
  send(method: 'GET' | 'POST', path: string, request?: HttpRequest): Promise<Response>;
  /** Parses the JSON of a response. */
  read(response: Response): Promise<unknown>;
}

/** Sends requests to one Toolcrib as one user. */
export function createHttpClient({ url, token, fetch = globalThis.fetch }: HttpClientInput): HttpClient {
  const base = addressOf(url);

  async function tokenNow(refused?: string): Promise<string> {
    if (typeof token === 'string') return token;
    try {
      return await token(refused);
    } catch (cause) {
      throw new ToolcribError('UNAUTHENTICATED', `The user's token could not be obtained (${reasonOf(cause)})`, { cause });
    }
  }

  async function attempt(method: string, path: string, { body, headers, signal }: HttpRequest, bearer: string): Promise<Response> {
    try {
      return await fetch(`${base}${path}`, {
        method,
        // The user's token must not be sent to any other address.
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
        // A request refused for its token was not executed, so it can be retried.
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
        if (cause instanceof SyntaxError)
          throw new ToolcribError('NETWORK_ERROR', `${base} did not answer like a Toolcrib server: check the url.`, { cause });
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
  return (
    refusalIn(text, waiting) ??
    new ToolcribError('NETWORK_ERROR', `${base} answered ${response.status}, but not like a Toolcrib server: check the url.`)
  );
}

/** [EXEC-6] Parses `{code, message, field?}`; undefined if the text is something else. */
export function refusalIn(text: string, options: { retryAfterMs?: number } = {}): ToolcribError | undefined {
  try {
    const { code, message } = JSON.parse(text) as { code?: unknown; message?: unknown };
    if (typeof code === 'string' && typeof message === 'string') return toolcribError(code as ErrorCode, message, options);
  } catch {
    // A proxy may answer with its own error page.
  }
  return undefined;
}

export function unreachable(base: string, cause: unknown): ToolcribError {
  const message = `Toolcrib at ${base} could not be reached, or the connection was lost (${reasonOf(cause)}). Try again later.`;
  return new ToolcribError('NETWORK_ERROR', message, { retryable: true, cause });
}

/** The innermost cause: `fetch failed` alone says nothing. */
function reasonOf(error: unknown): string {
  const { code, message, cause } = (error ?? {}) as { code?: unknown; message?: unknown; cause?: unknown };
  if (cause !== undefined && cause !== null) return reasonOf(cause);
  return typeof code === 'string' ? code : String(message ?? error);
}
