import { ProtocolError as SdkProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { CribError } from '../../../model/crib-error.ts';
import { ConnectionError, ProtocolError, TimeoutError } from '../../../model/named-errors.ts';
import { SessionLostError } from '../../upstream/session-lost.ts';

/** Turns an error of the SDK or a transport into a `CribError`. */
export function explainFailure(error: unknown): CribError {
  const known = knownCause(error);
  if (known !== undefined) return known;
  if (SdkHttpError.isInstance(error)) return statusFailure(error);
  if (SdkProtocolError.isInstance(error)) return new ProtocolError(`The server refused: ${cut(error.message)}`, { cause: error });
  if (SdkError.isInstance(error)) return sdkFailure(error);
  return new ConnectionError(`The connection to the server failed: ${cut(String((error as Error | undefined)?.message ?? error))}`, {
    cause: error,
  });
}

/** The SDK wraps errors of a transport in its own. */
function knownCause(error: unknown): CribError | undefined {
  let inner = error;
  for (let depth = 0; depth < 5; depth++) {
    if (inner instanceof CribError) return inner;
    if (!(inner instanceof Error)) return undefined;
    inner = inner.cause;
  }
  return undefined;
}

function sdkFailure(error: SdkError): CribError {
  const cause = { cause: error };
  if (error.code === SdkErrorCode.RequestTimeout) return new TimeoutError('The server did not answer in time', cause);
  if (error.code === SdkErrorCode.NotConnected) return new SessionLostError('The server is not connected', { mayHaveRun: false, ...cause });
  if (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.SendFailed) {
    return new SessionLostError('The connection to the server was lost', { mayHaveRun: true, ...cause });
  }
  return new ProtocolError(`The server does not follow the protocol: ${cut(error.message)}`, cause);
}

/** [ERR-10] Tells a refused credential from a broken server. */
function statusFailure(error: SdkHttpError): CribError {
  const { status: upstreamStatus } = error;
  const options = { upstreamStatus, cause: error };
  if (upstreamStatus === 401) return new CribError('UNAUTHENTICATED', 'The server does not accept our credentials (401)', options);
  if (upstreamStatus === 403) return new CribError('FORBIDDEN', 'The server forbids this with our credentials (403)', options);
  const retryable = upstreamStatus >= 500;
  return new CribError('SERVICE_UNAVAILABLE', `The server answered with status ${upstreamStatus}`, { retryable, ...options });
}

/** Text of a server we do not control. */
function cut(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
