import type { HttpClient, HttpRequest } from '../../net/http-client.ts';
import type { HttpResponse } from '../../net/http-exchange.ts';

export interface HttpCredentials {
  /** Called for every request, so that a token may change during a session. */
  headers?(request: { readonly method: string; readonly url: URL }): Promise<Record<string, string>> | Record<string, string>;
  /** Added to the address of every request. */
  query?: Readonly<Record<string, string>>;
  /** Called when a credential was refused. Resolves with true if the request should be sent again with a new one. */
  onChallenge?(challenge: HttpChallenge): Promise<boolean>;
}

export interface HttpChallenge {
  status: 401 | 403;
  wwwAuthenticate: string;
  /** RFC 9449 §8.2, or the empty string. */
  dpopNonce: string;
  url: URL;
  /** The result of `headers` for the request. */
  sent: Readonly<Record<string, string>>;
}

/** How often one request is sent again with new credentials. */
const maxChallenges = 2;

/** Merges the headers of a source with those of one request. */
export type JoinHeaders = (own: Readonly<Record<string, string>>, request: Readonly<Record<string, string>>) => Record<string, string>;

/** Parses the address only if a credential needs the URL, which few do. */
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

/** Sends a request with the current credentials. */
export async function requestWithCredentials(
  client: HttpClient,
  request: HttpRequest,
  credentials: HttpCredentials,
  join: JoinHeaders,
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
        // An unread response would hold its connection.
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

/** Replaces parameters of the request with these names, so that a caller cannot replace our key. */
function withPairs(target: string, query: [name: string, value: string][]): string {
  const [path = '', asked = ''] = target.split(/\?(.*)/s, 2);
  const names = new Set(query.map(([name]) => encodeURIComponent(name)));
  const others = asked.split('&').filter((pair) => pair !== '' && !names.has(pair.split('=', 1)[0] ?? ''));
  return `${path}?${[...others, ...query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)].join('&')}`;
}
