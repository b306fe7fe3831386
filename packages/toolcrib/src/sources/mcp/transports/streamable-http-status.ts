import { SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { CribError } from '../../../model/crib-error.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { SessionLostError } from '../session/session-errors.ts';

/** How servers say that they do not know the session, where they do not say it with 404. */
const sessionUnknown =
  /\bsession\b[^.]{0,40}\b(?:not found|unknown|invalid|expired|terminated|does not exist)|(?:no valid|invalid|unknown|expired|missing) session/i;

/**
 * What an answer that is no success means. An error of the SDK where its probe has to see the status; one of our own where the status must
 * not be taken for an answer to the probe [MCP-1].
 */
export function statusError(response: HttpResponse, text: string, hasSession: boolean): Error {
  const { status } = response;
  if (hasSession && (status === 404 || (status === 400 && sessionUnknown.test(text)))) {
    return new SessionLostError('The server does not know the session any more', { mayHaveRun: false, upstreamStatus: status });
  }
  if (status === 408 || status === 425 || status === 429) {
    const seconds = Number(response.header('retry-after') || Number.NaN);
    return new CribError('SERVICE_UNAVAILABLE', `The server is too busy (${status}): try again later`, {
      upstreamStatus: status,
      ...(seconds >= 0 && { retryAfterMs: seconds * 1000 }),
    });
  }
  return new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `The server answered with status ${status}`, { status, text });
}
