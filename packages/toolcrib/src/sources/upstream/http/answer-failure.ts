import { CribError, type ErrorCode } from '../../../model/crib-error.ts';
import { parseExactJson } from '../../../model/exact-json.ts';
import type { Json } from '../../../model/json.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { retryAfterOf } from './retry-after.ts';
import { isJsonType } from './media-type.ts';
import { answerHeaders } from './answer-headers.ts';
import { answerText } from './answer-text.ts';
import { upstreamWords } from './upstream-words.ts';

const codes: Record<number, ErrorCode> = {
  // RFC 9110 §13.1.2: 304 is for GET what 412 is for other methods.
  304: 'CONFLICT',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  408: 'SERVICE_UNAVAILABLE',
  409: 'CONFLICT',
  410: 'NOT_FOUND',
  412: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  425: 'SERVICE_UNAVAILABLE',
  429: 'RATE_LIMITED',
};
/** Callers see a JSON body up to this length as a whole. */
const shownWhole = 16_384;
const shownText = 4000;
const shownLocation = 500;

/** The request, as a message names it. */
interface Asked {
  method: string;
  path: string;
}

interface FailedAnswer {
  response: HttpResponse;
  bytes: Buffer;
  /** Why a redirect was not followed. */
  refused?: string;
}

/** [HTTP-2] [ERR-10] The error for any status but success, with the service's own error message. */
export function answerFailure(asked: Asked, { response, bytes, refused }: FailedAnswer): CribError {
  const { status } = response;
  const body = bodyOf(bytes, response.header('content-type'));
  const words = status < 400 ? notFollowed(response, refused) : upstreamWords(body);
  const code = codes[status] ?? (status >= 400 && status < 500 ? 'VALIDATION_ERROR' : 'SERVICE_UNAVAILABLE');
  const retryAfterMs = retryAfterOf(response.header('retry-after'), Date.now());
  return new CribError(code, `${beginning(asked, status)}${words === '' ? '' : `: ${words}`}`, {
    upstreamStatus: status,
    // An error about this request is the tool's; an error that would affect any request is the source's.
    origin: status < 500 && status !== 401 && status !== 403 && (status < 400 || !mayPass(code)) ? 'tool' : 'source',
    retryable: status >= 400 && mayPass(code),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    details: { headers: answerHeaders(response), ...(body !== undefined && { body }) },
  });
}

function mayPass(code: ErrorCode): boolean {
  return code === 'RATE_LIMITED' || code === 'SERVICE_UNAVAILABLE';
}

/** The body of a redirect is a page for people; only the target matters. */
function notFollowed(response: HttpResponse, refused: string | undefined): string {
  if (response.status === 304) return 'The resource has not changed since the version in the request';
  const location = response.header('location');
  const leads = location === '' ? '' : `a redirect to ${location.slice(0, shownLocation)}`;
  return [leads, refused ?? ''].filter((part) => part !== '').join('. ');
}

function beginning({ method, path }: Asked, status: number): string {
  if (status === 401) return 'The service does not accept our credentials (401)';
  if (status === 403) return 'The service forbids this with our credentials (403)';
  return `${method} ${path} was answered with status ${status}`;
}

function bodyOf(bytes: Buffer, contentType: string): Json | undefined {
  if (bytes.length === 0) return undefined;
  const isJson = isJsonType(contentType);
  const text = answerText(bytes, contentType, { isJson });
  if (text.includes('\0')) return undefined;
  if (text.length <= shownWhole && (isJson || /^\s*[[{]/.test(text))) {
    try {
      return parseExactJson(text);
    } catch {
      // Not JSON: shown as text.
    }
  }
  return text.slice(0, shownText).toWellFormed();
}
