import { SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { CribError } from '../../../model/crib-error.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { SessionLostError } from '../../upstream/session-lost.ts';

/** How servers that do not answer 404 say that they do not know the session. */
const sessionUnknown =
  /\bsession\b[^.]{0,40}\b(?:not found|unknown|invalid|expired|terminated|does not exist)|(?:no valid|invalid|unknown|expired|missing) session/i;

/**
 * The error for an unsuccessful status. It is the SDK's where the SDK's probe has to see the status, and ours where the status must not be
 * taken for an answer to the probe [MCP-1].
 */
export function statusError(response: HttpResponse, text: string, hasSession: boolean): Error {
  const { status } = response;
  if (hasSession && (status === 404 || (status === 400 && sessionUnknown.test(text)))) {
    return new SessionLostError('The server no longer knows the session', {
      mayHaveRun: false,
      lossCause: 'session-unknown',
      upstreamStatus: status,
    });
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
