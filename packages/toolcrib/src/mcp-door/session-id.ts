import { z } from 'zod';
import type { Principal } from '../model/principal.ts';
import type { Seals } from '../secrets/seals.ts';
import type { ClientAbilities } from './door-caller.ts';

/** What is agreed on in the handshake of a session. */
export interface SessionTerms {
  version: string;
  agent: string | null;
  abilities: ClientAbilities;
}

const termsSchema = z.strictObject({
  version: z.string(),
  agent: z.string().nullable(),
  abilities: z.strictObject({ elicitation: z.boolean(), sampling: z.boolean(), roots: z.boolean() }),
  /** So that no two sessions have the same id. */
  nonce: z.string(),
});

const field = 'mcp-session';

/**
 * [DOOR-4] The id of a session is its terms, sealed for one person: every server that has the keys can serve it, none has to remember it, and
 * with the token of anybody else it does not open. A refreshed token is the same person's.
 */
export function sealSessionId(seals: Seals, { key }: Pick<Principal, 'key'>, terms: SessionTerms, nonce: string): string {
  return seals.seal(JSON.stringify({ ...terms, nonce }), { id: key, field });
}

/** Undefined where this person has no such session. */
export function openSessionId(seals: Seals, { key }: Pick<Principal, 'key'>, id: string): SessionTerms | undefined {
  const text = seals.open(id, { id: key, field });
  if (text === undefined) return undefined;
  const { nonce: _nonce, ...terms } = termsSchema.parse(JSON.parse(text));
  return terms;
}
