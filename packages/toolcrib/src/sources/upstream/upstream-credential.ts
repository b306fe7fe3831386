import type { DpopSession } from '@modelcontextprotocol/client';
import type { UpstreamSecret } from '../../model/upstream-secret.ts';
import type { HttpChallenge } from './request-with-credentials.ts';

/** [ID-2] A credential with everything filled in: nothing, a value that is sent as it is, or tokens that come and go. */
export type UpstreamCredential =
  | { type: 'none' }
  | { type: 'header' | 'query'; name: string; value: UpstreamSecret }
  | { type: 'tokens'; tokens: UpstreamTokens };

/** The token that is in force at a moment. Whatever a session says is cleared of it. */
export interface UpstreamTokens {
  get(): UpstreamToken | Promise<UpstreamToken>;
  /** Told that the server does not accept what was sent. True when there is another now. */
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
