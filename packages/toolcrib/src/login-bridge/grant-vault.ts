import { decodeJwt } from 'jose';
import { sealedLogin } from '../secrets/sealed-login.ts';
import type { Seals } from '../secrets/seals.ts';
import type { LoginGrantRow } from '../store/login-grants.ts';
import type { Store } from '../store/store.ts';
import { hashOf } from './record-adapter.ts';
import type { OpenedGrant } from './opened-grant.ts';
import { providerTokensSchema, type ProviderTokens } from './provider-tokens.ts';

type NewGrant = Pick<LoginGrantRow, 'id' | 'owner' | 'session' | 'client' | 'expires_at'>;

export interface GrantVault {
  /** Undefined where it has ended. */
  read(id: string): Promise<OpenedGrant | undefined>;
  add(grant: NewGrant, tokens: ProviderTokens, consent: { name: string | null; clientName: string; address: string }): Promise<void>;
  /** Writes over the row that was read, or not at all. Undefined where another server was quicker, or the grant has ended. */
  write(row: LoginGrantRow, tokens?: ProviderTokens): Promise<LoginGrantRow | undefined>;
  /** Deletes it with all its records; nothing where it has ended before. */
  end(id: string, reason: string): Promise<void>;
}

/** Rolls back a change that somebody else has made before. */
class EndedBefore extends Error {}

const { name: field } = sealedLogin.grant;

/** [LOGIN-4] The grants in the store. The provider's tokens are sealed for their grant and open as part of no other. */
export function createGrantVault({ store, seals, now }: { store: Store; seals: Seals; now: () => number }): GrantVault {
  const sealed = (id: string, tokens: ProviderTokens) => seals.seal(JSON.stringify(tokens), { id, field });

  return {
    async read(id) {
      const row = await store.loginGrants.get(id);
      if (row === undefined || row.expires_at <= now()) return undefined;
      const content = seals.open(row.sealed, { id, field });
      if (content === undefined) return undefined;
      const tokens = providerTokensSchema.parse(JSON.parse(content));
      return { row, tokens, tokenEndsAt: endOf(tokens) };
    },

    async add(grant, tokens, { name, clientName, address }) {
      const row = { ...grant, version: 1, locked_until: 0, checked_at: now(), created_at: now(), sealed: sealed(grant.id, tokens) };
      const after = { client: grant.client, client_name: clientName };
      await store.change(
        {
          kind: 'login-allowed',
          topic: 'login',
          subject: grant.id,
          actor: grant.owner,
          client: grant.client,
          actor_name: name,
          address,
          before: null,
          after,
        },
        (tx) => tx.loginGrants.insert(row),
      );
    },

    async write(row, tokens) {
      const changed = tokens === undefined ? row : { ...row, sealed: sealed(row.id, tokens) };
      return (await store.loginGrants.update(changed)) ? { ...changed, version: changed.version + 1 } : undefined;
    },

    async end(id, reason) {
      const row = await store.loginGrants.get(id);
      if (row === undefined) return;
      const change = { kind: 'login-ended', topic: 'login', subject: id, actor: 'system', client: row.client } as const;
      const before = { owner: row.owner, client: row.client };
      try {
        await store.change({ ...change, before, after: { reason } }, async (tx) => {
          if (!(await tx.loginGrants.delete(id))) throw new EndedBefore();
          await tx.loginRecords.deleteOfGrant(id);
          await tx.loginRecords.delete('Grant', hashOf(id));
        });
      } catch (error) {
        if (!(error instanceof EndedBefore)) throw error;
      }
    },
  };
}

/** What the token says of itself, or else what was said about it. */
function endOf({ access_token, expires_at, obtained_at }: ProviderTokens): number {
  try {
    const { exp } = decodeJwt(access_token);
    if (typeof exp === 'number') return exp * 1000;
  } catch {
    // It is opaque.
  }
  return expires_at ?? obtained_at + usualTokenMs;
}

const usualTokenMs = 300_000;
