import { hash } from 'node:crypto';
import { isObject, parsedJson, type JsonObject } from '../model/json.ts';
import type { LoginRecords } from '../store/login-records.ts';

interface RecordAdapterInput {
  records: LoginRecords;
  now: () => number;
  /** A code or refresh token was used a second time: the grant behind it must end. Resolves when it has. */
  onReplay(grantId: string): Promise<void>;
  /** What is thrown then. */
  replayed(): Error;
}

/** The storage that `oidc-provider` asks for. */
export type RecordAdapter = ReturnType<ReturnType<typeof createRecordAdapters>>;

/** How long a client that registered itself and never logged anybody in is kept. */
const unusedClientMs = 86_400_000;

/**
 * [LOGIN-3] The records of the authorization server, in the store. Ids of codes, tokens and interactions are secrets, so what is stored is their
 * SHA-256: somebody who reads the database cannot use what is in it.
 */
export function createRecordAdapters({ records, now, onReplay, replayed }: RecordAdapterInput) {
  return (model: string) => ({
    async upsert(id: string, payload: JsonObject, expiresIn?: number): Promise<void> {
      const { jti: _id, ...rest } = payload;
      const { grantId } = payload;
      await records.put({
        model,
        id: hashOf(id),
        payload: JSON.stringify(rest),
        grant_id: typeof grantId === 'string' ? grantId : null,
        consumed_at: null,
        used_at: now(),
        expires_at: expiresIn === undefined ? (model === 'Client' ? now() + unusedClientMs : null) : now() + expiresIn * 1000,
      });
    },

    async find(id: string): Promise<JsonObject | undefined> {
      const row = await records.get(model, hashOf(id));
      if (row === undefined || (row.expires_at !== null && row.expires_at <= now())) return undefined;
      const payload = parsedJson(row.payload);
      if (!isObject(payload)) return undefined;
      if (model === 'Client') return payload;
      return { ...payload, jti: id, ...(row.consumed_at === null ? {} : { consumed: Math.floor(row.consumed_at / 1000) }) };
    },

    // Sessions end with the request that began them, and there is no device flow.
    findByUid: (): Promise<undefined> => Promise.resolve(undefined),
    findByUserCode: (): Promise<undefined> => Promise.resolve(undefined),

    async destroy(id: string): Promise<void> {
      await records.delete(model, hashOf(id));
    },

    /** The library looks before it consumes, which of several requests at once all do before the first has. */
    async consume(id: string): Promise<void> {
      if (await records.consume(model, hashOf(id), now())) return;
      const row = await records.get(model, hashOf(id));
      if (row?.grant_id != null) await onReplay(row.grant_id);
      throw replayed();
    },

    /** Called for every model where a used code or refresh token comes again; once is enough. */
    async revokeByGrantId(grantId: string): Promise<void> {
      if (model === 'AccessToken') await onReplay(grantId);
    },
  });
}

export function hashOf(id: string): string {
  return hash('sha256', id, 'base64url');
}
