import { ConnectionError } from '../../../model/named-errors.ts';
import { UnreachableError } from '../../../net/request-failure.ts';
import { isRedirect, redirectTarget } from './redirect-target.ts';
import type { BuiltRequest } from './request-plan.ts';
import { sendRequest, type SendOptions, type SentRequest } from './send-request.ts';
import type { Upstream } from './upstreams.ts';

/** As the metadata of an answer says it. */
type FollowedRedirect = { status: number; location: string };

export interface SentAndFollowed extends SentRequest {
  /** In the order in which they were followed. */
  redirects: FollowedRedirect[];
  /** Why the last answer, which is a redirect too, was not followed. */
  refused?: string;
}

interface FollowOptions extends SendOptions {
  /** Other origins to which a redirect is followed. */
  listed: readonly string[];
  /** How such an origin is asked: without any credential. */
  stranger(origin: string): Upstream;
}

const mostRedirects = 5;
const longestLocation = 2048;

/** [HTTP-2] One exchange, and where the answer leads elsewhere, those that follow from it. */
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
    if (redirects.length === mostRedirects) return { ...sent, redirects, refused: `It was redirected ${mostRedirects} times before` };
    if (seen.has(`${target.request.method} ${target.origin}${target.request.target}`)) {
      return { ...sent, redirects, refused: 'It leads in a circle' };
    }
    redirects.push({ status: response.status, location: response.header('location').slice(0, longestLocation) });
    // Whoever we were sent to may have sent us back: the credential has stayed behind for good.
    if (target.origin !== origin) from = stranger(target.origin);
    next = target.request;
  }
}

/** What was sent first has arrived, so that nothing must be sent anew as if nobody had been reached [EXEC-8]. */
async function sendOn(upstream: Upstream, request: BuiltRequest, options: SendOptions): Promise<SentRequest> {
  try {
    return await sendRequest(upstream, request, options);
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    throw new ConnectionError(`The redirect could not be followed: ${error.message}`, { cause: error });
  }
}
