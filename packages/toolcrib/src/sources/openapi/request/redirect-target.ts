import type { HttpResponse } from '../../../net/http-exchange.ts';
import type { BuiltRequest } from './request-plan.ts';

interface Redirected {
  request: BuiltRequest;
  /** That was asked. */
  origin: string;
  /** Other origins to which a redirect is followed. */
  listed: readonly string[];
}

/** What is asked next, or in words why nothing is. */
export type RedirectTarget = { origin: string; request: BuiltRequest } | { refused: string };

const followed = new Set([301, 302, 303, 307, 308]);
/** What describes the body, and goes with it. */
const ofBody = new Set(['content-type', 'content-encoding', 'content-language', 'content-location']);

export function isRedirect(status: number): boolean {
  return followed.has(status);
}

/** [HTTP-2] RFC 9110 §15.4, where it is clear what is meant. Whoever is at another origin gets nothing of the request but its address. */
export function redirectTarget({ request, origin, listed }: Redirected, response: HttpResponse): RedirectTarget {
  const { status } = response;
  const { method } = request;
  const location = response.header('location');
  const target = location === '' ? null : URL.parse(location, `${origin}${request.target}`);
  if (target === null) return { refused: 'It says of no address where to go on' };
  const isSafe = method === 'GET' || method === 'HEAD';
  // Nobody can tell whether it is to be sent again there, or has been done and only the result is there.
  if (!isSafe && (status === 301 || status === 302)) {
    return { refused: `After ${method} a ${status} is not followed: correct the address in the document, or set server_url` };
  }
  const next: BuiltRequest = { ...request, target: `${target.pathname}${target.search}` };
  if (status === 303 && !isSafe) Object.assign(next, { method: 'GET', body: undefined, headers: withoutBody(request.headers) });
  if (target.origin === origin) return { origin, request: next };
  if (!listed.includes(target.origin)) {
    return { refused: `It leads to another server: to have it followed, without the credential, add ${target.origin} to openapi.origins` };
  }
  if (next.method !== 'GET' && next.method !== 'HEAD') return { refused: `It leads to another server, to which no ${method} is sent on` };
  const { accept = '*/*', 'user-agent': agent = 'toolcrib' } = request.headers;
  return { origin: target.origin, request: { ...next, headers: { accept, 'user-agent': agent } } };
}

function withoutBody(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofBody.has(name)));
}
