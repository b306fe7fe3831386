export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_target'
  | 'unauthorized_client'
  | 'unsupported_grant_type';

/** A refusal of a token endpoint, in the form that OAuth prescribes (RFC 6749 §5.2, RFC 8693 §2.2.2) and clients expect. */
export class OAuthError extends Error {
  override name = 'OAuthError';
  readonly error: OAuthErrorCode;
  readonly status: number;

  constructor(error: OAuthErrorCode, description: string, options: { cause?: unknown } = {}) {
    super(description, options);
    this.error = error;
    this.status = error === 'invalid_client' ? 401 : 400;
  }

  toJSON(): { error: OAuthErrorCode; error_description: string } {
    return { error: this.error, error_description: this.message };
  }
}
