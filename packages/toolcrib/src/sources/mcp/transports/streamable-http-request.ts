import type { HttpClient, HttpRequest } from '../../../net/http-client.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { plainHeaders } from './streamable-http-headers.ts';

export interface HttpCredentials {
  /** Asked for every request, so that a token may change while the session lives. */
  headers?(): Promise<Record<string, string>> | Record<string, string>;
  /** Told of a refused credential. True when there is another now, and the request shall be sent again. */
  onChallenge?(challenge: { status: 401 | 403; wwwAuthenticate: string }): Promise<boolean>;
}

/** How often one request is sent again with other credentials. */
const maxChallenges = 2;

/** Sends a request with the headers that are in force at this moment. */
export async function requestWithCredentials(
  client: HttpClient,
  request: HttpRequest,
  credentials: HttpCredentials,
): Promise<HttpResponse> {
  for (let challenges = 0; ; challenges++) {
    const given = credentials.headers?.();
    const own = (given instanceof Promise ? await given : given) ?? {};
    const response = await client.request({ ...request, headers: { ...plainHeaders(own), ...request.headers } });
    const { status } = response;
    if ((status !== 401 && status !== 403) || challenges >= maxChallenges) return response;
    const renewed = await credentials.onChallenge?.({ status, wwwAuthenticate: response.header('www-authenticate') });
    if (renewed !== true) return response;
    await response.body.dump();
  }
}
