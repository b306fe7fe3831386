import type { JSONWebKeySet } from 'jose';
import { z } from 'zod';
import { CribError } from '../model/crib-error.ts';

/**
 * The public members of an asymmetric signature key (RFC 7518 §6, RFC 8037 §2). Members that would make it a private key must be
 * absent, and those not named here (`x5u`, `x5c`, whatever else) are dropped, so that nothing can come to depend on them.
 */
const publicKeySchema = z.object({
  kty: z.enum(['RSA', 'EC', 'OKP']),
  kid: z.string().optional(),
  use: z.literal('sig').optional(),
  alg: z.string().optional(),
  key_ops: z.array(z.string()).optional(),
  n: z.string().optional(),
  e: z.string().optional(),
  crv: z.string().optional(),
  x: z.string().optional(),
  y: z.string().optional(),
  d: z.undefined().optional(),
  k: z.undefined().optional(),
});

const documentSchema = z.object({ keys: z.array(z.unknown()) });

/** Reads a JWKS document (RFC 7517 §5) and keeps the keys that can verify a signature; keys of other kinds are skipped, as §5 asks. */
export function parseKeySet(text: string): JSONWebKeySet {
  let parsed;
  try {
    parsed = documentSchema.safeParse(JSON.parse(text));
  } catch (cause) {
    throw new CribError('NETWORK_ERROR', 'The key set is not JSON', { cause });
  }
  if (!parsed.success) throw new CribError('NETWORK_ERROR', 'The key set has no list of keys');
  return {
    keys: parsed.data.keys.flatMap((entry) => {
      const key = publicKeySchema.safeParse(entry);
      return key.success ? [key.data] : [];
    }),
  };
}
