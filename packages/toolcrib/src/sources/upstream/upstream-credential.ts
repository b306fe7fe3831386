import type { DpopSession } from '@modelcontextprotocol/client';
import type { UpstreamSecret } from '../../model/upstream-secret.ts';
import type { HttpChallenge } from './request-with-credentials.ts';

/** [ID-2] A resolved credential: none, a fixed value, or tokens that change over time. */
export type UpstreamCredential =
  | { type: 'none' }
  | { type: 'header' | 'query'; name: string; value: UpstreamSecret }
  | { type: 'tokens'; tokens: UpstreamTokens };

/** Gives the current token. Tokens are redacted from everything a session returns. */
export interface UpstreamTokens {
  get(): UpstreamToken | Promise<UpstreamToken>;
  /** Called when the server refuses a token. Resolves with true if the request should be sent again. */
  refused(challenge: HttpChallenge): Promise<boolean>;
}

export interface UpstreamToken {
  readonly accessToken: UpstreamSecret;
  readonly scheme: 'Bearer' | 'DPoP';
  readonly dpop?: DpopSession | undefined;
}

/** The token in an `Authorization` header that was sent. */
export function sentToken({ sent }: HttpChallenge): string {
  return sent['authorization']?.replace(/^\S+ /, '') ?? '';
}
