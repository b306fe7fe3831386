import { hash } from 'node:crypto';
import { z } from 'zod';
import { InboundToken, openInbound } from '../model/inbound-token.ts';
import type { JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';

/** A principal as it is written down. It may only be kept sealed: the token is in it. */
export const keptPrincipalSchema = z.strictObject({
  issuer: z.string(),
  subject: z.string(),
  // Not there in what was kept before names were.
  name: z.string().nullable().default(null),
  key: z.string(),
  client: z.string().nullable(),
  claims: z.record(z.string(), z.unknown()),
  expires_at: z.number(),
  token: z.string().nullable(),
});
export type KeptPrincipal = z.infer<typeof keptPrincipalSchema>;

/**
 * [ID-4] [POLL-2] The caller of a call that goes on after a crash, with the token they came with: sources may be called as them, for as long
 * as it lasts. The one place where a token is written down, always to be sealed, and gone with the call.
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
