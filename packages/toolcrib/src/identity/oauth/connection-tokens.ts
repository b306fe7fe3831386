import { setTimeout as delay } from 'node:timers/promises';
import type { DpopSession } from '@modelcontextprotocol/client';
import { connectUrl, sourceOwner } from '../../model/connection.ts';
import { CribError } from '../../model/crib-error.ts';
import { upstreamSecret, type UpstreamSecret } from '../../model/upstream-secret.ts';
import type { Egress } from '../../net/egress.ts';
import { RecentMap } from '../recent-map.ts';
import type { Grant } from './connection-content.ts';
import type { Connection, ConnectionVault } from './connection-vault.ts';
import { audienceOf, type OAuthSettings } from './oauth-settings.ts';
import { missingScope } from './missing-scope.ts';

/** Somebody who speaks to a source over a connection of their own. */
export interface Speaker {
  sourceId: string;
  /** The key of the principal, or `source`. */
  owner: string;
  settings: OAuthSettings;
}

interface UsableToken {
  readonly accessToken: UpstreamSecret;
  readonly scheme: 'Bearer' | 'DPoP';
  /** The same for as long as the user does not connect anew; what is kept for one revision must not be used with another. */
  readonly revision: string;
  readonly dpop: DpopSession | undefined;
}

export interface ConnectionTokens {
  /** A token that is good for a while yet; `UNAUTHENTICATED` with where to connect where there is none. */
  get(speaker: Speaker): UsableToken | Promise<UsableToken>;
  /** Told that the server does not accept a token. True when there is another now; `UNAUTHENTICATED` when the user has to connect anew. */
  refused(speaker: Speaker, token: string): Promise<boolean>;
  /** Told that the server wants more than was granted. False where it has been asked for already, so that asking again is no use. */
  insufficient(speaker: Speaker, scope: string | undefined): Promise<boolean>;
  /** Drops what is kept in memory: of one connection, or of all. */
  forget(place?: { sourceId: string; owner: string }): void;
}

interface Remembered extends UsableToken {
  /** Until when it is used without looking. */
  readonly until: number;
}

/** Renewed so long before its end that it does not end on the way. */
const earlyMs = 60_000;
/** A refresh token can be used once, so one server at a time uses it; longer than a request may take. */
const lockMs = 30_000;
const lookAgainMs = 100;
/** A token as young as this that is refused is not refused for its age. */
const justObtainedMs = 10_000;
const maxRemembered = 10_000;

interface ConnectionTokensInput {
  vault: ConnectionVault;
  egress: Egress;
  now: () => number;
}

/** [MCP-12] The tokens of all connections, at hand in memory, renewed before they end, one renewal at a time on all servers together. */
export function createConnectionTokens({ vault, egress, now }: ConnectionTokensInput): ConnectionTokens {
  const remembered = new RecentMap<Remembered>(maxRemembered);
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
    // What was read before somebody said that it has changed is used once and not kept.
    if (began === generation) remembered.set(key, token);
    return token;
  }

  /** One at a time for each connection on this server. */
  function load(speaker: Speaker, refusedToken?: string): Promise<Remembered> {
    const key = keyOf(speaker);
    const known = loading.get(key);
    if (known !== undefined) return known;
    const begun = loadNow(speaker, key, refusedToken).finally(() => loading.delete(key));
    loading.set(key, begun);
    return begun;
  }

  async function loadNow(speaker: Speaker, key: string, refusedToken: string | undefined): Promise<Remembered> {
    for (;;) {
      const began = generation;
      const connection = await vault.read(speaker.sourceId, speaker.owner);
      const grant = connection?.content.grant;
      if (connection === undefined || grant === undefined || grant.audience !== audienceOf(speaker.settings)) throw notConnected(speaker);
      const usable = grant.tokens.access_token !== refusedToken;
      if (usable && now() < freshUntil(grant)) return remember(key, began, grant);
      const justObtained = !usable && now() - grant.obtained_at < justObtainedMs;
      if (grant.tokens.refresh_token === undefined || justObtained) {
        if (usable && now() < (grant.expires_at ?? Number.POSITIVE_INFINITY)) return remember(key, began, grant);
        await lose(speaker, grant);
        throw notConnected(speaker, 'has ended', usable ? undefined : 401);
      }
      if (connection.row.locked_until > now()) {
        await delay(lookAgainMs);
        continue;
      }
      const renewed = await renew(speaker, connection, grant, usable);
      if (renewed !== undefined) return remember(key, began, renewed);
    }
  }

  /** Undefined where another server has taken the refresh token in hand, or the connection has changed. */
  async function renew(speaker: Speaker, { row }: Connection, grant: Grant, usable: boolean): Promise<Grant | undefined> {
    const locked = await vault.change(speaker, (current) =>
      current?.row.version === row.version ? { content: current.content, locked_until: now() + lockMs } : undefined,
    );
    if (locked === undefined) return undefined;
    const { refreshGrant } = await import('./request-tokens.ts');
    let renewed: Grant | undefined;
    try {
      renewed = await refreshGrant(egress, speaker.settings, grant, now());
    } catch (error) {
      await vault.change(speaker, (current) => current && { content: current.content, locked_until: 0 });
      if (usable && now() < (grant.expires_at ?? 0)) return grant;
      throw error;
    }
    if (renewed === undefined) {
      await lose(speaker, grant);
      throw notConnected(speaker, 'has ended', usable ? undefined : 401);
    }
    const { tokens, obtained_at, expires_at } = renewed;
    // Whatever else has been written in the meantime, a refresh token that was given in exchange for another must not be lost.
    const written = await vault.change(speaker, (current) =>
      current?.content.grant?.id === grant.id
        ? { content: { ...current.content, grant: { ...current.content.grant, tokens, obtained_at, expires_at } }, locked_until: 0 }
        : undefined,
    );
    return written?.content.grant;
  }

  async function lose({ sourceId, owner }: Speaker, grant: Grant): Promise<void> {
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

  return {
    get(speaker) {
      const known = remembered.get(keyOf(speaker));
      return known !== undefined && now() < known.until ? known : load(speaker);
    },
    async refused(speaker, token) {
      // The first may be one that was begun before it was refused.
      for (const _attempt of [1, 2]) {
        remembered.delete(keyOf(speaker));
        if ((await load(speaker, token)).accessToken !== token) return true;
      }
      return false;
    },
    async insufficient(speaker, scope) {
      const { sourceId, owner } = speaker;
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

/** Half of its life at most is given away: some tokens live for a minute. */
function freshUntil({ obtained_at, expires_at }: Grant): number {
  return expires_at === null ? Number.POSITIVE_INFINITY : Math.max(expires_at - earlyMs, obtained_at + (expires_at - obtained_at) / 2);
}

function prefixOf({ sourceId, owner }: { sourceId: string; owner: string }): string {
  return `${sourceId}\n${owner}\n`;
}

/** With whom the tokens are for, so that a source that was given another address is looked at anew. */
function keyOf(speaker: Speaker): string {
  return `${prefixOf(speaker)}${audienceOf(speaker.settings)}`;
}

/** [ID-5] For the caller alone: it says nothing about the source. */
export function notConnected({ sourceId, owner, settings }: Speaker, why = 'is not there yet', upstreamStatus?: 401 | 403): CribError {
  const url = connectUrl(sourceId, owner);
  const { sourceName } = settings;
  const message =
    owner === sourceOwner
      ? `The connection of ${sourceName} itself ${why}: an administrator makes one with POST ${url}`
      : `Your connection to ${sourceName} ${why}: POST ${url}, and open the address it answers with`;
  const origin = owner === sourceOwner ? 'source' : 'caller';
  return new CribError('UNAUTHENTICATED', message, { retryable: false, upstreamStatus, details: { connect_url: url }, origin });
}
