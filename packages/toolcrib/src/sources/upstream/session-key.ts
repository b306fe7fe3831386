import { inboundTokenOf } from '../../identity/inbound-token-of.ts';
import type { ConnectionTokens } from '../../identity/oauth/connection-tokens.ts';
import { isPerUser } from '../../model/credential.ts';
import { CribError } from '../../model/crib-error.ts';
import type { Principal } from '../../model/principal.ts';
import type { SourceRecord } from '../../model/source.ts';
import type { ConnectionOwners } from './connection-owners.ts';

/** [MCP-5] Identifies the credential with which a caller uses a source. Only calls with the same key share a session. */
export interface SessionKey {
  owner: string;
  /** An owner with several keys has a session for each. */
  key: string;
  /** A session of a new revision replaces that of the old one. */
  revision: string;
  /** When its sessions must end, in epoch milliseconds. */
  until: number;
}

interface SessionKeyInput {
  source: SourceRecord;
  principal: Principal;
  connections: ConnectionTokens;
  connectionOwners: ConnectionOwners;
}

/** Returns no promise if the key is known at once. Throws `UNAUTHENTICATED` if the caller has no credential. */
export function sessionKeyOf({ source, principal, connections, connectionOwners }: SessionKeyInput): SessionKey | Promise<SessionKey> {
  const { key: owner, expiresAt } = principal;
  const credential = source.definition?.credential;
  if (credential === undefined || !isPerUser(credential)) {
    throw new CribError('INTERNAL', `${source.name} has one credential for all users`);
  }
  if (credential.type === 'oauth') {
    const found = connectionOwners.of(source, owner).then((connectionOwner) => connections.get(connectionOwner));
    return found.then(({ revision }) => ({ owner, key: owner, revision, until: Number.POSITIVE_INFINITY }));
  }
  // Two agents of one user may have different rights, and must not see what the other's token gives access to.
  return { owner, key: inboundTokenOf(principal, Date.now()).digest, revision: '', until: expiresAt };
}
