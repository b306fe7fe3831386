import { CribError } from '../model/crib-error.ts';
import { ConnectionError, ProtocolError } from '../model/named-errors.ts';

/** No connection was made, so the request cannot have run: it can safely be sent again [EXEC-8]. */
export class UnreachableError extends ConnectionError {
  override name = 'UnreachableError';
}

/** Failures from before the first byte went out. */
const neverSent: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  ETIMEDOUT: 'connecting took too long',
  UND_ERR_CONNECT_TIMEOUT: 'connecting took too long',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

/** Failures after sending began, when the request may or may not have arrived. */
const brokenOff: Record<string, string> = {
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  UND_ERR_HEADERS_TIMEOUT: 'no answer came in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped half-way',
};

/** Explains a failure between us and another machine, and whether the request can have arrived. */
export function requestFailure(origin: string, error: unknown): CribError {
  if (error instanceof CribError) return error;
  const code = codeOf(error);
  const reason = neverSent[code];
  const wrong = unreadable(error);
  // A retry would change nothing.
  if (wrong !== undefined) return new ProtocolError(`${origin} ${wrong}`, { cause: error });
  if (reason !== undefined) return new UnreachableError(`${origin} cannot be reached: ${reason}`, { cause: error });
  return new ConnectionError(`The connection to ${origin} was lost${code && ` (${code})`}`, { cause: error });
}

/** The same for a document, which is only fetched: it does not matter whether the request arrived. */
export function fetchFailure(name: string, error: unknown): CribError {
  if (error instanceof CribError) {
    return new CribError(error.code, `${name}: ${error.message}`, { upstreamStatus: error.upstreamStatus, cause: error });
  }
  const code = codeOf(error);
  const reason = neverSent[code] ?? brokenOff[code];
  if (reason !== undefined) return new CribError('SERVICE_UNAVAILABLE', `${name} cannot be reached: ${reason}`, { cause: error });
  return new CribError('NETWORK_ERROR', `${name} gave no usable answer${code && ` (${code})`}`, { cause: error });
}

/** What is wrong with an answer that arrived and cannot be read. */
function unreadable(error: unknown): string | undefined {
  if (codeOf(error) === 'UND_ERR_HEADERS_OVERFLOW') return 'answered with more than 16 KiB of headers';
  return error instanceof Error && error.name === 'HTTPParserError' ? 'answered with something that is not HTTP' : undefined;
}

/** Where several addresses were tried, the failure is an aggregate, and its parts have the code. */
function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  if (error instanceof AggregateError) return error.errors.map(codeOf).find((code) => code !== '') ?? '';
  return '';
}
