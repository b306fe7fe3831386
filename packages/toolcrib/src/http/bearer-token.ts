import { CribError } from '../model/crib-error.ts';

/** RFC 6750 §2.1. Tokens in the query or a cookie are never looked at. */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw new CribError('UNAUTHENTICATED', 'Send the user\'s token as "Authorization: Bearer <token>"', { field: 'Authorization' });
  }
  // The one form that clients really send; everything else takes the long way.
  if (authorization.startsWith('Bearer ') && authorization.indexOf(' ', 7) < 0 && authorization.length > 7) return authorization.slice(7);
  const match = /^Bearer +([^\s]+)$/i.exec(authorization);
  if (match?.[1] === undefined) {
    throw new CribError('UNAUTHENTICATED', 'The Authorization header must be "Bearer <token>"', { field: 'Authorization' });
  }
  return match[1];
}
