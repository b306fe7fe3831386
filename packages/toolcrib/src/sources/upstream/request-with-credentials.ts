import type { HttpClient, HttpRequest } from '../../net/http-client.ts';
import type { HttpResponse } from '../../net/http-exchange.ts';
import { plainHeaders } from '../mcp/transports/streamable-http-headers.ts';

export interface HttpCredentials {
  /** Asked for every request, so that a token may change while the session lives. */
  headers?(request: { readonly method: string; readonly url: URL }): Promise<Record<string, string>> | Record<string, string>;
  /** Added to the address of every request. */
  query?: Readonly<Record<string, string>>;
  /** Told of a refused credential. True when there is another now, and the request shall be sent again. */
  onChallenge?(challenge: HttpChallenge): Promise<boolean>;
}

export interface HttpChallenge {
  status: 401 | 403;
  wwwAuthenticate: string;
  /** RFC 9449 §8.2, or the empty string. */
  dpopNonce: string;
  url: URL;
  /** What `headers` had given for the request. */
  sent: Readonly<Record<string, string>>;
}

/** How often one request is sent again with other credentials. */
const maxChallenges = 2;

/** How the headers of a source and those of one request become the headers that are sent. */
export type JoinHeaders = (own: Readonly<Record<string, string>>, request: Readonly<Record<string, string>>) => Record<string, string>;

const requestFirst: JoinHeaders = (own, request) => ({ ...plainHeaders(own), ...request });

/** Most credentials do not look at the address, and one that is text already is sent as it is. */
class AskedRequest {
  readonly method: string;
  readonly #origin: string;
  readonly #url: URL | string;

  constructor(method: string, origin: string, url: URL | string) {
    this.method = method;
    this.#origin = origin;
    this.#url = url;
  }

  get url(): URL {
    return typeof this.#url === 'string' ? new URL(`${this.#origin}${this.#url}`) : this.#url;
  }
}

/** Sends a request with the headers that are in force at this moment. */
export async function requestWithCredentials(
  client: HttpClient,
  request: HttpRequest,
  credentials: HttpCredentials,
  join: JoinHeaders = requestFirst,
): Promise<HttpResponse> {
  const url = withQuery(request.url, credentials.query);
  const asked = new AskedRequest(request.method, client.origin, url);
  for (let challenges = 0; ; challenges++) {
    const given = credentials.headers?.(asked);
    const own = (given instanceof Promise ? await given : given) ?? {};
    const response = await client.request({ ...request, url, headers: join(own, request.headers) });
    const { status } = response;
    if ((status !== 401 && status !== 403) || challenges >= maxChallenges) return response;
    const [wwwAuthenticate, dpopNonce] = [response.header('www-authenticate'), response.header('dpop-nonce')];
    const renewed = await credentials
      .onChallenge?.({ status, wwwAuthenticate, dpopNonce, url: asked.url, sent: own })
      .catch((error: unknown) => {
        // Nobody will read it, and until somebody does it holds a connection.
        response.body.destroy();
        throw error;
      });
    if (renewed !== true) return response;
    await response.body.dump();
  }
}

function withQuery(url: URL | string, query: Readonly<Record<string, string>> | undefined): URL | string {
  if (query === undefined) return url;
  if (typeof url === 'string') return withPairs(url, Object.entries(query));
  const target = new URL(url);
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
  return target;
}

/** In place of whatever the request has under these names: nobody puts another key in the place of ours. */
function withPairs(target: string, query: [name: string, value: string][]): string {
  const [path = '', asked = ''] = target.split(/\?(.*)/s, 2);
  const names = new Set(query.map(([name]) => encodeURIComponent(name)));
  const others = asked.split('&').filter((pair) => pair !== '' && !names.has(pair.split('=', 1)[0] ?? ''));
  return `${path}?${[...others, ...query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)].join('&')}`;
}
