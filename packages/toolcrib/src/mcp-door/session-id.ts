import { z } from 'zod';
import { parsedJson } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { Seals } from '../secrets/seals.ts';
import type { ClientAbilities } from './door-caller.ts';

/** What is agreed on in the handshake of a session. */
export interface SessionTerms {
  version: string;
  agent: string | null;
  abilities: ClientAbilities;
  /** No two sessions have the same. */
  nonce: string;
  /** From then on its id is worth nothing, in epoch milliseconds. */
  until: number;
}

const termsSchema = z.strictObject({
  version: z.string(),
  agent: z.string().nullable(),
  abilities: z.strictObject({ elicitation: z.boolean(), sampling: z.boolean(), roots: z.boolean() }),
  nonce: z.string(),
  until: z.number(),
});

const field = 'mcp-session';
/** Longer than any that we gave out. */
const longestId = 4096;
/** The client begins anew after that. */
export const longestSessionMs = 30 * 24 * 3_600_000;

/**
 * [DOOR-4] The id of a session is its terms, sealed for one person: every server that has the keys can serve it, none has to remember it, and
 * with the token of anybody else it does not open. A refreshed token is the same person's.
 */
export function sealSessionId(seals: Seals, { key }: Pick<Principal, 'key'>, terms: SessionTerms): string {
  return seals.seal(JSON.stringify(terms), { id: key, field });
}

/** Undefined where this person has no such session. */
export function openSessionId(seals: Seals, { key }: Pick<Principal, 'key'>, id: string): SessionTerms | undefined {
  const text = id.length > longestId ? undefined : seals.open(id, { id: key, field });
  const terms = text === undefined ? undefined : termsSchema.safeParse(parsedJson(text)).data;
  return terms === undefined || terms.until < Date.now() ? undefined : terms;
}
