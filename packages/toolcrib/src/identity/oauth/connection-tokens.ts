import { setTimeout as delay } from 'node:timers/promises';
import type { DpopSession } from '@modelcontextprotocol/client';
import { upstreamSecret, type UpstreamSecret } from '../../model/upstream-secret.ts';
import type { Egress } from '../../net/egress.ts';
import { RecentMap } from '../../model/recent-map.ts';
import type { Grant } from './connection-content.ts';
import { notConnected, type ConnectionOwner } from './connection-owner.ts';
import { createConnectionRenewal } from './connection-renewal.ts';
import type { ConnectionVault } from './connection-vault.ts';
import { audienceOf } from './oauth-settings.ts';
import { missingScope } from './missing-scope.ts';

interface UsableToken {
  readonly accessToken: UpstreamSecret;
  readonly scheme: 'Bearer' | 'DPoP';
  /** The same until the user connects again; what is cached for one revision must not be used with another. */
  readonly revision: string;
  readonly dpop: DpopSession | undefined;
}

export interface ConnectionTokens {
  /** A token that does not expire soon; `UNAUTHENTICATED`, with the address to connect at, where there is none. */
  get(connectionOwner: ConnectionOwner): UsableToken | Promise<UsableToken>;
  /** Reports that the server does not accept a token. True when there is another one now; `UNAUTHENTICATED` when the user has to connect again. */
  refused(connectionOwner: ConnectionOwner, token: string): Promise<boolean>;
  /** Reports that the server wants more than was granted. False where Toolcrib has asked for that already, so that asking again is no use. */
  insufficient(connectionOwner: ConnectionOwner, scope: string | undefined): Promise<boolean>;
  /** Clears the cache: of one connection, or of all. */
  forget(place?: { sourceId: string; owner: string }): void;
}

interface Remembered extends UsableToken {
  /** Until then it is used without a look at the database. */
  readonly until: number;
}

/** A token is renewed this long before it expires, so that it does not expire on the way. */
const earlyMs = 60_000;
const lookAgainMs = 100;
/** A token as young as this is not refused for its age. */
const justObtainedMs = 10_000;
const maxRemembered = 10_000;

interface ConnectionTokensInput {
  vault: ConnectionVault;
  egress: Egress;
  now: () => number;
}

/** [MCP-12] The tokens of all connections, cached in memory and renewed before they expire. */
export function createConnectionTokens({ vault, egress, now }: ConnectionTokensInput): ConnectionTokens {
  const remembered = new RecentMap<Remembered>(maxRemembered);
  const { renew, lose } = createConnectionRenewal({ vault, egress, now });
  const loading = new Map<string, Promise<Remembered>>();
  let generation = 0;

  async function remember(key: string, began: number, grant: Grant): Promise<Remembered> {
    const { access_token: accessToken, token_type } = grant.tokens;
    const dpop = grant.dpop_key && (await import('./dpop-key.ts')).openDpopSession(grant.dpop_key);
    const token: Remembered = {
      accessToken: upstreamSecret(accessToken),
      scheme: token_type.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer',
      revision: grant.id,
      dpop: await dpop,
      until: grant.expires_at === null ? Number.POSITIVE_INFINITY : freshUntil(grant),
    };
    // The connection may have changed since it was read: the token is used once and not cached.
    if (began === generation) remembered.set(key, token);
    return token;
  }

  /** One at a time for each connection on this server. */
  function load(connectionOwner: ConnectionOwner, refusedToken?: string): Promise<Remembered> {
    const key = keyOf(connectionOwner);
    const known = loading.get(key);
    if (known !== undefined) return known;
    const begun = loadNow(connectionOwner, key, refusedToken).finally(() => loading.delete(key));
    loading.set(key, begun);
    return begun;
  }

  async function loadNow(connectionOwner: ConnectionOwner, key: string, refusedToken: string | undefined): Promise<Remembered> {
    for (;;) {
      const began = generation;
      const connection = await vault.read(connectionOwner.sourceId, connectionOwner.owner);
      const grant = connection?.content.grant;
      if (connection === undefined || grant === undefined || grant.audience !== audienceOf(connectionOwner.settings))
        throw notConnected(connectionOwner);
      const usable = grant.tokens.access_token !== refusedToken;
      if (usable && now() < freshUntil(grant)) return remember(key, began, grant);
      const justObtained = !usable && now() - grant.obtained_at < justObtainedMs;
      if (grant.tokens.refresh_token === undefined || justObtained) {
        if (usable && now() < (grant.expires_at ?? Number.POSITIVE_INFINITY)) return remember(key, began, grant);
        await lose(connectionOwner, grant);
        throw notConnected(connectionOwner, 'has ended', usable ? undefined : 401);
      }
      if (connection.row.locked_until > now()) {
        await delay(lookAgainMs);
        continue;
      }
      const renewed = await renew(connectionOwner, connection, grant, usable);
      if (renewed !== undefined) return remember(key, began, renewed);
    }
  }

  return {
    get(connectionOwner) {
      const known = remembered.get(keyOf(connectionOwner));
      return known !== undefined && now() < known.until ? known : load(connectionOwner);
    },
    async refused(connectionOwner, token) {
      // The first load may have begun before the token was refused.
      for (const _attempt of [1, 2]) {
        remembered.delete(keyOf(connectionOwner));
        if ((await load(connectionOwner, token)).accessToken !== token) return true;
      }
      return false;
    },
    async insufficient(connectionOwner, scope) {
      const { sourceId, owner } = connectionOwner;
      let helps = false;
      await vault.change({ sourceId, owner }, (current) => {
        const { grant } = current?.content ?? {};
        if (current === undefined || grant === undefined) return undefined;
        const wanted = missingScope(scope, [grant.tokens.scope, grant.scope]);
        helps = wanted !== undefined;
        return wanted === undefined ? undefined : { content: { ...current.content, wanted_scope: wanted } };
      });
      return helps;
    },
    forget(place) {
      generation++;
      if (place === undefined) remembered.clear();
      else for (const key of remembered.keys()) if (key.startsWith(prefixOf(place))) remembered.delete(key);
    },
  };
}

/** At least half of its life is used: some tokens live for a minute only. */
function freshUntil({ obtained_at, expires_at }: Grant): number {
  return expires_at === null ? Number.POSITIVE_INFINITY : Math.max(expires_at - earlyMs, obtained_at + (expires_at - obtained_at) / 2);
}

function prefixOf({ sourceId, owner }: { sourceId: string; owner: string }): string {
  return `${sourceId}\n${owner}\n`;
}

/** The audience is part of the key: a source with a new address needs other tokens. */
function keyOf(connectionOwner: ConnectionOwner): string {
  return `${prefixOf(connectionOwner)}${audienceOf(connectionOwner.settings)}`;
}
