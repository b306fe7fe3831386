import type { Egress } from '../../net/egress.ts';
import type { Grant } from './connection-content.ts';
import { notConnected, type ConnectionOwner } from './connection-owner.ts';
import type { Connection, ConnectionVault } from './connection-vault.ts';

export interface ConnectionRenewal {
  /** Undefined where another server is using the refresh token, or the connection has changed. */
  renew(connectionOwner: ConnectionOwner, connection: Connection, grant: Grant, usable: boolean): Promise<Grant | undefined>;
  /** The grant is of no use any more: the user has to connect again. */
  lose(connectionOwner: ConnectionOwner, grant: Grant): Promise<void>;
}

interface ConnectionRenewalInput {
  vault: ConnectionVault;
  egress: Egress;
  now: () => number;
}

/** A refresh token can be used only once, so one server at a time uses it; this is longer than a request may take. */
const lockMs = 30_000;

/** [MCP-12] Renews the tokens of connections in the database, one renewal at a time across all servers. */
export function createConnectionRenewal({ vault, egress, now }: ConnectionRenewalInput): ConnectionRenewal {
  return { renew, lose };

  async function renew(connectionOwner: ConnectionOwner, { row }: Connection, grant: Grant, usable: boolean): Promise<Grant | undefined> {
    const locked = await vault.change(connectionOwner, (current) =>
      current?.row.version === row.version ? { content: current.content, locked_until: now() + lockMs } : undefined,
    );
    if (locked === undefined) return undefined;
    const { refreshGrant } = await import('./request-tokens.ts');
    let renewed: Grant | undefined;
    try {
      renewed = await refreshGrant(egress, connectionOwner.settings, grant, now());
    } catch (error) {
      await vault.change(connectionOwner, (current) => current && { content: current.content, locked_until: 0 });
      if (usable && now() < (grant.expires_at ?? 0)) return grant;
      throw error;
    }
    if (renewed === undefined) {
      await lose(connectionOwner, grant);
      throw notConnected(connectionOwner, 'has ended', usable ? undefined : 401);
    }
    const { tokens, obtained_at, expires_at } = renewed;
    // The old refresh token is used up, so the new one must not be lost, whatever else has been written in the meantime.
    const written = await vault.change(connectionOwner, (current) =>
      current?.content.grant?.id === grant.id
        ? { content: { ...current.content, grant: { ...current.content.grant, tokens, obtained_at, expires_at } }, locked_until: 0 }
        : undefined,
    );
    return written?.content.grant;
  }

  async function lose({ sourceId, owner }: ConnectionOwner, grant: Grant): Promise<void> {
    await vault.change(
      { sourceId, owner },
      (current) => {
        if (current?.content.grant?.id !== grant.id) return undefined;
        const { grant: _lost, registration: _stale, ...content } = current.content;
        return { content, connected_at: null, locked_until: 0 };
      },
      'connection-lost',
    );
  }
}
