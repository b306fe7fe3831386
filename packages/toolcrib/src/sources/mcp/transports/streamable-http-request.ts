import type { HttpClient, HttpRequest } from '../../../net/http-client.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { plainHeaders } from './streamable-http-headers.ts';

export interface HttpCredentials {
  /** Asked for every request, so that a token may change while the session lives. */
  headers?(request: { method: string; url: URL }): Promise<Record<string, string>> | Record<string, string>;
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

/** Sends a request with the headers that are in force at this moment. */
export async function requestWithCredentials(
  client: HttpClient,
  request: HttpRequest,
  credentials: HttpCredentials,
): Promise<HttpResponse> {
  const { method } = request;
  const url = withQuery(request.url, credentials.query);
  for (let challenges = 0; ; challenges++) {
    const given = credentials.headers?.({ method, url });
    const own = (given instanceof Promise ? await given : given) ?? {};
    const response = await client.request({ ...request, url, headers: { ...plainHeaders(own), ...request.headers } });
    const { status } = response;
    if ((status !== 401 && status !== 403) || challenges >= maxChallenges) return response;
    const [wwwAuthenticate, dpopNonce] = [response.header('www-authenticate'), response.header('dpop-nonce')];
    const renewed = await credentials.onChallenge?.({ status, wwwAuthenticate, dpopNonce, url, sent: own }).catch((error: unknown) => {
      // Nobody will read it, and until somebody does it holds a connection.
      response.body.destroy();
      throw error;
    });
    if (renewed !== true) return response;
    await response.body.dump();
  }
}

function withQuery(url: URL, query: Readonly<Record<string, string>> | undefined): URL {
  if (query === undefined) return url;
  const target = new URL(url);
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
  return target;
}
