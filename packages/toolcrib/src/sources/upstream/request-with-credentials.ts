import type { HttpClient, HttpRequest } from '../../net/http-client.ts';
import type { HttpReceiver, HttpResponse } from '../../net/http-exchange.ts';

export interface HttpCredentials {
  /** Called for every request, so that a token may change during a session. The same object means the same headers. */
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

const none: Readonly<Record<string, string>> = {};
/** How often one request is sent again with new credentials. */
const maxChallenges = 2;

/** Merges the headers of a source with those of one request. */
export type JoinHeaders = (own: Readonly<Record<string, string>>, request: Readonly<Record<string, string>>) => Record<string, string>;

/** Sends a request with the current credentials. */
export function requestWithCredentials(
  client: HttpClient,
  request: HttpRequest,
  credentials: HttpCredentials,
  join: JoinHeaders,
): Promise<HttpResponse> {
  return new Promise((answered, failed) => sendWithCredentials(client, request, { credentials, join, receiver: { answered, failed } }));
}

interface CredentialedInput {
  credentials: HttpCredentials;
  join: JoinHeaders;
  receiver: HttpReceiver;
}

/** The same without a promise; the request is under way when it returns, unless its credential has to be waited for. */
export function sendWithCredentials(client: HttpClient, request: HttpRequest, input: CredentialedInput): void {
  new CredentialedRequest(client, request, input).start();
}

/** A request, and what its credentials are told of it. */
class CredentialedRequest implements HttpReceiver {
  readonly method: string;
  readonly #client: HttpClient;
  readonly #request: HttpRequest;
  readonly #credentials: HttpCredentials;
  readonly #join: JoinHeaders;
  readonly #receiver: HttpReceiver;
  readonly #target: URL | string;
  #own: Readonly<Record<string, string>> = none;
  #challenges = 0;

  constructor(client: HttpClient, request: HttpRequest, { credentials, join, receiver }: CredentialedInput) {
    this.method = request.method;
    this.#client = client;
    this.#request = request;
    this.#credentials = credentials;
    this.#join = join;
    this.#receiver = receiver;
    this.#target = withQuery(request.url, credentials.query);
  }

  /** Parses the address only if a credential needs the URL, which few do. */
  get url(): URL {
    return typeof this.#target === 'string' ? new URL(`${this.#client.origin}${this.#target}`) : this.#target;
  }

  start(): void {
    try {
      const given = this.#credentials.headers?.(this);
      if (given instanceof Promise) void this.#sendLater(given);
      else this.#send(given ?? none);
    } catch (error) {
      this.failed(error);
    }
  }

  answered(response: HttpResponse): void {
    const { status } = response;
    const { onChallenge } = this.#credentials;
    if ((status !== 401 && status !== 403) || onChallenge === undefined || this.#challenges++ >= maxChallenges)
      this.#receiver.answered(response);
    else void this.#renew(response, status);
  }

  failed(error: unknown): void {
    this.#receiver.failed(error);
  }

  #send(own: Readonly<Record<string, string>>): void {
    this.#own = own;
    const { method, body, signal, followRedirects, takesEncoded, headers } = this.#request;
    const sent = { method, url: this.#target, headers: this.#join(own, headers), body, signal, followRedirects, takesEncoded };
    this.#client.send(sent, this);
  }

  async #sendLater(given: Promise<Record<string, string>>): Promise<void> {
    try {
      this.#send(await given);
    } catch (error) {
      this.failed(error);
    }
  }

  async #renew(response: HttpResponse, status: HttpChallenge['status']): Promise<void> {
    const [wwwAuthenticate, dpopNonce] = [response.header('www-authenticate'), response.header('dpop-nonce')];
    try {
      const renewed = await this.#credentials.onChallenge?.({ status, wwwAuthenticate, dpopNonce, url: this.url, sent: this.#own });
      if (renewed !== true) return this.#receiver.answered(response);
      await response.body.dump();
      this.start();
    } catch (error) {
      // An unread response would hold its connection.
      response.body.destroy();
      this.failed(error);
    }
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
