import { randomBytes } from 'node:crypto';
import { CribError } from '../../model/crib-error.ts';
import type { ChangedBy } from '../../model/event.ts';
import type { Store } from '../../store/store.ts';
import type { Egress } from '../../net/egress.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import type { ConnectionOwner } from './connection-owner.ts';
import { createConnectionTokens, type ConnectionTokens } from './connection-tokens.ts';
import type { ConnectionContent } from './connection-content.ts';
import { createConnectionVault, stateHash, type Connection } from './connection-vault.ts';
import type { OAuthSettings } from './oauth-settings.ts';
import { isRedemptionCode, makeRedemptionCode, redemptionHash } from './redemption-code.ts';
import type { AuthorizationResponse } from './request-tokens.ts';
import { revokeGrant } from './revoke-grant.ts';

/** [MCP-12] The connections of users, and of sources themselves, to the authorization servers of sources. */
export interface Connections {
  readonly tokens: ConnectionTokens;
  begin(connectionOwner: ConnectionOwner, options: Beginning): Promise<BegunConnection>;
  /** Keeps the answer that a browser brought to the callback of a source. Nothing is exchanged yet: the browser could be anyone's. */
  park(sourceId: string, response: FinishedAuthorization): Promise<ParkedConnection>;
  /** Exchanges the kept answer, for the user who began it and has the code that was shown only in the browser at the callback. */
  redeem(connectionOwner: ConnectionOwner, redemption: { code: string; by: ChangedBy }): Promise<void>;
  /** False where there was none. The authorization server is told where possible, but its answer does not matter. */
  revoke(place: { sourceId: string; owner: string }, settings: () => Promise<OAuthSettings>, by?: ChangedBy): Promise<boolean>;
  /** The connections of users, the newest first. */
  listConnected(query: { owner?: string | undefined; sourceId?: string | undefined; limit: number }): Promise<OwnedConnection[]>;
  /** The sources that an owner is connected to, and since when. */
  list(owner: string): Promise<ReadonlyMap<string, number>>;
}

interface Beginning {
  redirectUri: string;
  /** A display name. */
  begunBy: string;
  /** The user who may redeem it. */
  by: ChangedBy;
  /** Where a program on the user's machine waits for the code. */
  loopbackPort?: number | undefined;
}

export interface BegunConnection {
  authorization_url: string;
  expires_at: number;
}

export interface ParkedConnection {
  owner: string;
  begunBy: string;
  loopbackPort: number | undefined;
  /** Shown only in the browser that came back. */
  redemptionCode: string;
}

interface OwnedConnection {
  sourceId: string;
  owner: string;
  /** A display name. */
  ownerName: string | null;
  connectedAt: number;
}

export type FinishedAuthorization = AuthorizationResponse & { state?: string | undefined };

const pendingMs = 600_000;
/** Codes of most authorization servers live shorter than this. */
const parkedMs = 300_000;

interface ConnectionsInput {
  store: Store;
  keyRing: KeyRing;
  egress: Egress;
  now?: () => number;
}

export function createConnections({ store, keyRing, egress, now = Date.now }: ConnectionsInput): Connections {
  const vault = createConnectionVault({ store, keyRing, now });
  const tokens = createConnectionTokens({ vault, egress, now });

  const isOver = ({ row }: Connection) => (row.state_expires_at ?? 0) <= now();

  return {
    tokens,

    async begin(connectionOwner, options) {
      const { sourceId, owner, settings } = connectionOwner;
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

    async park(sourceId, { state, ...response }) {
      const found = state === undefined ? undefined : await vault.findByState(state);
      const pending = found?.content.pending;
      if (found === undefined || pending === undefined || isOver(found)) throw unknownState();
      const { owner } = found.row;
      const { acceptedResponse } = await import('./request-tokens.ts');
      const redemptionCode = makeRedemptionCode();
      let refusal: unknown;
      const taken = await vault.change({ sourceId: found.row.source_id, owner }, (current) => {
        if (current === undefined || current.row.state_hash !== found.row.state_hash) return undefined;
        const used = { state_hash: null, state_expires_at: null };
        try {
          // RFC 9700 §4.4.2.2: each source has its own callback, so that answers cannot be mixed up.
          if (found.row.source_id !== sourceId) throw mixedUp();
          const parked = { ...acceptedResponse(pending, response), redemption_hash: redemptionHash(redemptionCode) };
          return { ...used, content: { ...current.content, pending: { ...pending, parked } }, state_expires_at: now() + parkedMs };
        } catch (error) {
          // The state is used up, whatever came with it.
          refusal = error;
          return { ...used, content: withoutPending(current.content) };
        }
      });
      if (taken === undefined) throw unknownState();
      if (refusal !== undefined) throw refusal;
      return { owner, begunBy: pending.begun_by, loopbackPort: pending.loopback_port, redemptionCode };
    },

    async redeem({ sourceId, owner, settings }, { code, by }) {
      const place = { sourceId, owner };
      let found: Pick<ConnectionContent, 'pending' | 'registration'> = {};
      // Removed before it is used: an authorization code works only once, even if the exchange fails.
      const taken = await vault.change(place, (current) => {
        const { pending, registration } = current?.content ?? {};
        // Any administrator can begin the connection of a source itself, and only the same one can finish it.
        if (current === undefined || pending?.parked === undefined || isOver(current) || pending.by.actor !== by.actor) return undefined;
        if (!isRedemptionCode(code, pending.parked.redemption_hash)) throw wrongCode();
        found = { pending, registration };
        return { content: withoutPending(current.content), state_hash: null, state_expires_at: null };
      });
      const { pending, registration } = found;
      if (taken === undefined || pending?.parked === undefined) throw nothingParked();
      const { redeemCode } = await import('./request-tokens.ts');
      const grant = await redeemCode(egress, settings, pending, pending.parked, now());
      await vault.change(
        place,
        (current) => {
          const { wanted_scope: _granted, ...content } = current?.content ?? {};
          return { content: { ...content, registration, grant, made_by: pending.begun_by }, connected_at: now() };
        },
        'connection-made',
        by,
      );
      tokens.forget(place);
    },

    async revoke(place, settings, by) {
      const row = await vault.delete(place, by);
      tokens.forget(place);
      if (row === undefined) return false;
      try {
        const { grant } = vault.open(row);
        if (grant !== undefined) await revokeGrant(egress, await settings(), grant);
      } catch {
        // The connection is deleted, as requested. A grant that cannot be opened cannot be revoked either.
      }
      return true;
    },

    async listConnected(query) {
      const rows = await store.connections.listConnected(query);
      return rows.map((row) => {
        const { source_id: sourceId, owner, connected_at: connectedAt } = row;
        return { sourceId, owner, ownerName: vault.open(row).made_by ?? null, connectedAt: connectedAt ?? 0 };
      });
    },

    async list(owner) {
      const rows = await store.connections.listOf(owner);
      return new Map(rows.flatMap(({ source_id, connected_at }) => (connected_at === null ? [] : [[source_id, connected_at] as const])));
    },
  };
}

/** The client that the authorization was begun with is kept only where it works. */
function withoutPending({ pending: _pending, registration: _registration, ...content }: ConnectionContent): ConnectionContent {
  return content;
}

function unknownState(): CribError {
  return new CribError('VALIDATION_ERROR', 'This authorization is unknown, was used before, or took longer than ten minutes. Start again', {
    field: 'state',
  });
}

function mixedUp(): CribError {
  return new CribError('VALIDATION_ERROR', 'This authorization was begun for another source. Nothing was connected. Start again', {
    field: 'state',
  });
}

function wrongCode(): CribError {
  return new CribError('VALIDATION_ERROR', 'This is not the code that the page shows. Copy it from the page again', { field: 'code' });
}

function nothingParked(): CribError {
  return new CribError(
    'CONFLICT',
    'You have no connection to finish here: it was not allowed yet, was finished before, or took too long. Start again',
  );
}
