import { inboundTokenOf } from '../../identity/inbound-token-of.ts';
import type { ConnectionTokens } from '../../identity/oauth/connection-tokens.ts';
import { isPerUser } from '../../model/credential.ts';
import { CribError } from '../../model/crib-error.ts';
import type { Principal } from '../../model/principal.ts';
import type { SourceRecord } from '../../model/source.ts';
import type { Speakers } from './speakers.ts';

/** [MCP-5] As whom a caller speaks to a source: sessions are shared within it and never beyond. */
export interface Standing {
  owner: string;
  /** Two of one owner have sessions of their own, side by side. */
  key: string;
  /** Another one takes the place of the one before. */
  revision: string;
  /** When whatever was opened with it ends, in epoch milliseconds. */
  until: number;
}

interface StandingInput {
  source: SourceRecord;
  principal: Principal;
  connections: ConnectionTokens;
  speakers: Speakers;
}

/** At once where that is known; `UNAUTHENTICATED` where the caller has no credential. */
export function standingOf({ source, principal, connections, speakers }: StandingInput): Standing | Promise<Standing> {
  const { key: owner, expiresAt } = principal;
  const credential = source.definition?.credential;
  if (credential === undefined || !isPerUser(credential)) {
    throw new CribError('INTERNAL', `${source.name} is spoken to in the same way for everybody`);
  }
  if (credential.type === 'oauth') {
    const found = speakers.of(source, owner).then((speaker) => connections.get(speaker));
    return found.then(({ revision }) => ({ owner, key: owner, revision, until: Number.POSITIVE_INFINITY }));
  }
  // Two agents of one user may have been given other rights, and what came from the one's token is not for the other.
  return { owner, key: inboundTokenOf(principal, Date.now()).digest, revision: '', until: expiresAt };
}
