import type { JsonObject } from '../model/json.ts';
import { personName } from '../model/person-name.ts';
import type { Principal } from '../model/principal.ts';

/** A caller with these claims, from `usualIssuer` where they name no issuer. */
export function principalFromClaims(claims: JsonObject, usualIssuer = ''): Principal {
  const { iss, sub } = claims;
  const issuer = typeof iss === 'string' ? iss : usualIssuer;
  const subject = typeof sub === 'string' ? sub : '';
  const name = personName(claims);
  return { issuer, subject, name, key: `${issuer} ${subject}`, client: null, claims, expiresAt: 0, token: null };
}
