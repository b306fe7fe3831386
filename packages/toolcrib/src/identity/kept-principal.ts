import { hash } from 'node:crypto';
import { z } from 'zod';
import { InboundToken, openInbound } from '../model/inbound-token.ts';
import type { JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';

/** A principal in storable form. It contains the token, so it may only be kept sealed. */
export const keptPrincipalSchema = z.strictObject({
  issuer: z.string(),
  subject: z.string(),
  // Missing in principals that were kept before there were names.
  name: z.string().nullable().default(null),
  key: z.string(),
  client: z.string().nullable(),
  claims: z.record(z.string(), z.unknown()),
  expires_at: z.number(),
  token: z.string().nullable(),
});
export type KeptPrincipal = z.infer<typeof keptPrincipalSchema>;

/**
 * [ID-4] [POLL-2] The caller of a call that continues after a crash, with their token: sources can be called as them until it expires. This
 * is the only place that stores a token: always sealed, and deleted with the call.
 */
export function keepPrincipal({ expiresAt, token, claims, ...principal }: Principal): KeptPrincipal {
  return { ...principal, claims: { ...claims }, expires_at: expiresAt, token: token === null ? null : openInbound(token) };
}

export function restorePrincipal({ expires_at: expiresAt, token, claims, ...principal }: KeptPrincipal): Principal {
  return Object.freeze({
    ...principal,
    claims: claims as JsonObject,
    expiresAt,
    token: token === null ? null : new InboundToken(token, hash('sha256', token, 'base64')),
  });
}
