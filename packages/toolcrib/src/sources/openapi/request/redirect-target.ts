import type { HttpResponse } from '../../../net/http-exchange.ts';
import type { BuiltRequest } from '../../upstream/http/send-request.ts';

interface Redirected {
  request: BuiltRequest;
  /** The origin that sent the redirect. */
  origin: string;
  /** Other origins that redirects may lead to. */
  listed: readonly string[];
}

/** The next request, or the reason why the redirect is not followed. */
export type RedirectTarget = { origin: string; request: BuiltRequest } | { refused: string };

const followed = new Set([301, 302, 303, 307, 308]);
/** Headers that describe the body, and are dropped with it. */
const ofBody = new Set(['content-type', 'content-encoding', 'content-language', 'content-location']);

export function isRedirect(status: number): boolean {
  return followed.has(status);
}

/** [HTTP-2] RFC 9110 §15.4, where its meaning is clear. Another origin gets no body, and no headers but Accept and User-Agent. */
export function redirectTarget({ request, origin, listed }: Redirected, response: HttpResponse): RedirectTarget {
  const { status } = response;
  const { method } = request;
  const location = response.header('location');
  const target = location === '' ? null : URL.parse(location, `${origin}${request.target}`);
  if (target === null) return { refused: 'The redirect has no valid Location header' };
  const isSafe = method === 'GET' || method === 'HEAD';
  // The status does not tell whether to repeat the request there, or only to fetch the result.
  if (!isSafe && (status === 301 || status === 302)) {
    return { refused: `A ${status} after ${method} is not followed: correct the address in the document, or set server_url` };
  }
  const next: BuiltRequest = { ...request, target: `${target.pathname}${target.search}` };
  if (status === 303 && !isSafe) Object.assign(next, { method: 'GET', body: undefined, headers: withoutBody(request.headers) });
  if (target.origin === origin) return { origin, request: next };
  if (!listed.includes(target.origin)) {
    return {
      refused: `The redirect leads to another server: to follow it without the credential, add ${target.origin} to openapi.origins`,
    };
  }
  if (next.method !== 'GET' && next.method !== 'HEAD')
    return { refused: `The redirect leads to another server, where a ${method} is never repeated` };
  const { accept = '*/*', 'user-agent': agent = 'toolcrib' } = request.headers;
  return { origin: target.origin, request: { ...next, headers: { accept, 'user-agent': agent } } };
}

function withoutBody(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofBody.has(name)));
}
