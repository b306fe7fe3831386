import { ConnectionError } from '../../../model/named-errors.ts';
import { UnreachableError } from '../../../net/request-failure.ts';
import { isRedirect, redirectTarget } from './redirect-target.ts';
import type { BuiltRequest } from '../../upstream/http/send-request.ts';
import { sendRequest, type SendOptions, type SentRequest } from '../../upstream/http/send-request.ts';
import type { Upstream } from '../../upstream/upstreams.ts';

/** As in the metadata of a result. */
type FollowedRedirect = { status: number; location: string };

export interface SentAndFollowed extends SentRequest {
  /** In the order in which they were followed. */
  redirects: FollowedRedirect[];
  /** Why the last response, also a redirect, was not followed. */
  refused?: string;
}

interface FollowOptions extends SendOptions {
  /** Other origins that redirects may lead to. */
  listed: readonly string[];
  /** The upstream for such an origin, without any credential. */
  stranger(origin: string): Upstream;
}

const mostRedirects = 5;
const longestLocation = 2048;

/** [HTTP-2] Sends a request and follows its redirects. */
export async function sendFollowing(upstream: Upstream, request: BuiltRequest, options: FollowOptions): Promise<SentAndFollowed> {
  const { listed, stranger } = options;
  let [from, next] = [upstream, request];
  const redirects: FollowedRedirect[] = [];
  const seen = new Set<string>();
  for (;;) {
    const sent = await (redirects.length === 0 ? sendRequest(from, next, options) : sendOn(from, next, options));
    const { response } = sent;
    if (!isRedirect(response.status)) return { ...sent, redirects };
    const { origin } = from.client;
    seen.add(`${next.method} ${origin}${next.target}`);
    const target = redirectTarget({ request: next, origin, listed }, response);
    if ('refused' in target) return { ...sent, redirects, refused: target.refused };
    if (redirects.length === mostRedirects)
      return { ...sent, redirects, refused: `The request was already redirected ${mostRedirects} times` };
    if (seen.has(`${target.request.method} ${target.origin}${target.request.target}`)) {
      return { ...sent, redirects, refused: 'The redirects form a loop' };
    }
    redirects.push({ status: response.status, location: response.header('location').slice(0, longestLocation) });
    // Once dropped, the credential stays dropped, even if the other server redirects back.
    if (target.origin !== origin) from = stranger(target.origin);
    next = target.request;
  }
}

/** The first request has arrived, so a failure here must not look like an unreachable service, which would be retried [EXEC-8]. */
async function sendOn(upstream: Upstream, request: BuiltRequest, options: SendOptions): Promise<SentRequest> {
  try {
    return await sendRequest(upstream, request, options);
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    throw new ConnectionError(`The redirect could not be followed: ${error.message}`, { cause: error });
  }
}
