import { randomBytes } from 'node:crypto';
import { CribError } from '../../model/crib-error.ts';
import type { ChangedBy } from '../../model/event.ts';
import type { Store } from '../../store/store.ts';
import type { Egress } from '../../net/egress.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { createConnectionTokens, type ConnectionTokens, type Speaker } from './connection-tokens.ts';
import { createConnectionVault, stateHash } from './connection-vault.ts';
import type { OAuthSettings } from './oauth-settings.ts';
import type { AuthorizationResponse } from './request-tokens.ts';
import { revokeGrant } from './revoke-grant.ts';

/** [MCP-12] Connections of users, and of sources themselves, to the authorization servers of sources. */
export interface Connections {
  readonly tokens: ConnectionTokens;
  begin(speaker: Speaker, options: { redirectUri: string; begunBy: string; by?: ChangedBy }): Promise<BegunConnection>;
  /** What the browser came back with. `settingsOf` is asked once it is known which source it is about. */
  finish(response: FinishedAuthorization, settingsOf: (sourceId: string) => Promise<OAuthSettings>): Promise<FinishedConnection>;
  /** False where there was none. The authorization server is told, where it can be, but nothing waits on its consent. */
  revoke(place: { sourceId: string; owner: string }, settings: () => Promise<OAuthSettings>, by?: ChangedBy): Promise<boolean>;
  /** Since when an owner is connected to which sources. */
  list(owner: string): Promise<ReadonlyMap<string, number>>;
}

export interface BegunConnection {
  authorization_url: string;
  expires_at: number;
}

interface FinishedConnection {
  sourceId: string;
  owner: string;
  /** As people call them. */
  begunBy: string;
}

export type FinishedAuthorization = AuthorizationResponse & { state?: string | undefined };

const pendingMs = 600_000;

interface ConnectionsInput {
  store: Store;
  keyRing: KeyRing;
  egress: Egress;
  now?: () => number;
}

export function createConnections({ store, keyRing, egress, now = Date.now }: ConnectionsInput): Connections {
  const vault = createConnectionVault({ store, keyRing, now });
  const tokens = createConnectionTokens({ vault, egress, now });

  return {
    tokens,

    async begin(speaker, options) {
      const { sourceId, owner, settings } = speaker;
      const { beginAuthorization } = await import('./begin-authorization.ts');
      const state = randomBytes(32).toString('base64url');
      const content = (await vault.read(sourceId, owner))?.content ?? {};
      const { authorizationUrl, pending, registration } = await beginAuthorization({ egress, ...options, settings, content, state });
      const expires_at = now() + pendingMs;
      await vault.change({ sourceId, owner }, (current) => ({
        content: { ...current?.content, registration, pending },
        state_hash: stateHash(state),
        state_expires_at: expires_at,
      }));
      return { authorization_url: authorizationUrl, expires_at };
    },

    async finish({ state, ...response }, settingsOf) {
      const found = state === undefined ? undefined : await vault.findByState(state);
      const pending = found?.content.pending;
      if (found === undefined || pending === undefined || (found.row.state_expires_at ?? 0) <= now()) throw unknownState();
      const place = { sourceId: found.row.source_id, owner: found.row.owner };
      // Taken before it is used: whoever else comes with the same state is too late, whatever becomes of this one.
      const taken = await vault.change(place, (current) => {
        if (current === undefined || current.row.state_hash !== found.row.state_hash) return undefined;
        // The client that it was begun with is kept where it turns out to be good.
        const { pending: _pending, registration: _registration, ...content } = current.content;
        return { content, state_hash: null, state_expires_at: null };
      });
      if (taken === undefined) throw unknownState();
      const settings = await settingsOf(place.sourceId);
      const { redeemCode } = await import('./request-tokens.ts');
      const grant = await redeemCode(egress, settings, pending, response, now());
      await vault.change(
        place,
        (current) => {
          const { wanted_scope: _granted, ...content } = current?.content ?? {};
          return { content: { ...content, registration: found.content.registration, grant }, connected_at: now() };
        },
        'connection-made',
        pending.by,
      );
      tokens.forget(place);
      return { ...place, begunBy: pending.begun_by };
    },

    async revoke(place, settings, by) {
      const row = await vault.delete(place, by);
      tokens.forget(place);
      if (row === undefined) return false;
      try {
        const { grant } = vault.open(row);
        if (grant !== undefined) await revokeGrant(egress, await settings(), grant);
      } catch {
        // It is gone here, which is what was asked for. What cannot be opened cannot be told of either.
      }
      return true;
    },

    async list(owner) {
      const rows = await store.connections.listOf(owner);
      return new Map(rows.flatMap(({ source_id, connected_at }) => (connected_at === null ? [] : [[source_id, connected_at] as const])));
    },
  };
}

function unknownState(): CribError {
  return new CribError(
    'VALIDATION_ERROR',
    'This authorization is not known, was used before, or took longer than ten minutes. Begin again',
    {
      field: 'state',
    },
  );
}
