import { InsecureTokenEndpointError, IssuerMismatchError, OAuthError, RegistrationRejectedError } from '@modelcontextprotocol/client';
import { CribError } from '../../model/crib-error.ts';

/** Explains a failure between us and an authorization server. It is never the fault of the caller's own call [ID-5]. */
export function explainOAuthFailure(error: unknown, what: string): CribError {
  const cause = { cause: error };
  const known = error instanceof CribError ? error : error instanceof Error ? error.cause : undefined;
  // The server named the address, so an address that cannot be used is its fault.
  if (known instanceof CribError && known.code === 'VALIDATION_ERROR') {
    return new CribError('NETWORK_ERROR', `${what}: ${known.message}`, { retryable: false, ...cause });
  }
  if (error instanceof CribError) return error;
  if (known instanceof CribError) return new CribError(known.code, `${what}: ${known.message}`, { retryable: known.retryable, ...cause });
  if (IssuerMismatchError.isInstance(error)) {
    const message =
      error.kind === 'metadata'
        ? `its metadata names another issuer than ${plain(error.expected)}. Set skip_issuer_check only if that is known to be right`
        : 'the answer comes from another authorization server than the one that was asked';
    return new CribError('NETWORK_ERROR', `${what}: ${message}`, cause);
  }
  if (InsecureTokenEndpointError.isInstance(error)) {
    return new CribError('NETWORK_ERROR', `${what}: its token endpoint is plain http on another machine`, cause);
  }
  if (RegistrationRejectedError.isInstance(error)) return refusal(`${what}: it does not let us register (status ${error.status})`, cause);
  if (error instanceof OAuthError) return refusal(`${what}: it refused (${plain(error.code)}: ${plain(error.message)})`, cause);
  const message = error instanceof Error ? error.message : String(error);
  if (/dynamic client registration/.test(message)) {
    return refusal(`${what}: clients cannot register there by themselves. Register one by hand and give its client_id`, cause);
  }
  return new CribError('NETWORK_ERROR', `${what}: ${plain(message)}`, cause);
}

function refusal(message: string, cause: { cause: unknown }): CribError {
  return new CribError('SERVICE_UNAVAILABLE', message, { retryable: false, ...cause });
}

/** Makes the text of a server we do not control short and one line. */
function plain(text: string | undefined): string {
  return (text ?? '').replaceAll(/[^\x20-\x7e\u00a0-\uffff]+/g, ' ').slice(0, 300);
}
