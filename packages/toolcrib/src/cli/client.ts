import { Agent, request } from 'undici';
import { httpStatusByCode, type ErrorCode, CribError } from '../model/crib-error.ts';
import { isLoopbackHost } from '../net/is-loopback-host.ts';
import { remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface ClientRequest {
  token?: string;
  query?: Record<string, string | undefined>;
  /** Sent as JSON. */
  body?: unknown;
  form?: Record<string, string>;
  accept?: string;
  signal?: AbortSignal;
  /** How long the server may be silent; 0 waits for ever. */
  silenceMs?: number;
}

export interface ClientResponse {
  status: number;
  contentType: string;
  body: AsyncIterable<Buffer>;
}

export interface Client {
  readonly url: string;
  /** Any answer, as it comes. */
  send(method: Method, path: string, options?: ClientRequest): Promise<ClientResponse>;
  /** The JSON of a successful answer; throws the error of a refusal. */
  json(method: Method, path: string, options?: ClientRequest): Promise<unknown>;
}

/** Talks to one server. */
export function createClient(address: string, { named = '--url' }: { named?: string } = {}): Client {
  const base = URL.parse(address);
  if (!base || !/^https?:$/.test(base.protocol) || base.username || base.password || base.search || base.hash) {
    throw new UsageError(`${named} must be an address such as http://127.0.0.1:7300`, { field: 'url' });
  }
  const url = `${base.origin}${base.pathname.replace(/\/+$/, '')}`;
  if (base.protocol === 'http:' && !isLoopbackHost(base.hostname))
    remark(`${base.origin} is plain http: others on the network can read the token.`);
  // Our own agent without idle connections, so that a command ends as soon as it is done.
  const agent = new Agent({ keepAliveTimeout: 1, keepAliveMaxTimeout: 1 });

  async function send(method: Method, path: string, options: ClientRequest = {}): Promise<ClientResponse> {
    const { silenceMs = 30_000 } = options;
    const headers: Record<string, string> = { accept: options.accept ?? 'application/json', 'user-agent': 'toolcrib' };
    if (options.token !== undefined) headers.authorization = `Bearer ${checkedToken(options.token)}`;
    if (options.form) headers['content-type'] = 'application/x-www-form-urlencoded';
    else if (options.body !== undefined) headers['content-type'] = 'application/json';
    const target = new URL(`${url}${path}`);
    for (const [name, value] of Object.entries(options.query ?? {})) if (value !== undefined) target.searchParams.set(name, value);
    try {
      const response = await request(target, {
        dispatcher: agent,
        method,
        headers,
        body: options.form
          ? new URLSearchParams(options.form).toString()
          : options.body === undefined
            ? null
            : JSON.stringify(options.body),
        signal: options.signal ?? null,
        headersTimeout: silenceMs,
        bodyTimeout: silenceMs,
        reset: true,
      });
      return {
        status: response.statusCode,
        contentType: String(response.headers['content-type'] ?? ''),
        body: chunksOf(response.body, url),
      };
    } catch (cause) {
      options.signal?.throwIfAborted();
      throw new CribError(
        'SERVICE_UNAVAILABLE',
        `No Toolcrib answers at ${url} (${reasonOf(cause)}): start one with \`toolcrib serve\`, or name another with --url`,
        { cause },
      );
    }
  }

  return {
    url,
    send,
    async json(method, path, options = {}) {
      return readJson(url, await send(method, path, options));
    },
  };
}

/** A body that ends early is a failure of the connection, not of ours. */
async function* chunksOf(body: AsyncIterable<Buffer>, url: string): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (cause) {
    throw new CribError('NETWORK_ERROR', `The connection to ${url} broke before the answer was complete (${reasonOf(cause)})`, { cause });
  }
}

/** The JSON of an answer; throws a refusal. */
export async function readJson(url: string, { status, body }: ClientResponse): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.concat(chunks).toString());
  } catch (cause) {
    throw new CribError('NETWORK_ERROR', `${url} answered ${status} with something that is not JSON: is it a Toolcrib?`, { cause });
  }
  if (status >= 200 && status < 300) return value;
  throw (
    refusalOf(value) ??
    new CribError('NETWORK_ERROR', `${url} answered ${status}, but not like a Toolcrib server: check the address`, {
      upstreamStatus: status,
    })
  );
}

/** [EXEC-6] The error of a refusal; undefined for any other value. */
export function refusalOf(value: unknown): CribError | undefined {
  const { code, message, field } = (value ?? {}) as { code?: unknown; message?: unknown; field?: unknown };
  if (typeof code !== 'string' || typeof message !== 'string' || !Object.hasOwn(httpStatusByCode, code)) return undefined;
  return new CribError(code as ErrorCode, message, typeof field === 'string' ? { field } : {});
}

/** A line break or a non-ASCII letter in a token would fail deep inside the HTTP client. */
function checkedToken(token: string): string {
  const trimmed = token.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed))
    throw new UsageError('The token contains spaces or characters that no token has', { field: 'token' });
  return trimmed;
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  const { code, message } = error as { code?: unknown; message?: unknown };
  return String(code ?? message);
}
