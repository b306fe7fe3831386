import { z } from 'zod';
import type { Seals } from '../secrets/seals.ts';
import type { LoginRecords } from '../store/login-records.ts';
import { interactionSeconds } from './authorization-server.ts';
import type { BegunSignIn } from './company-sign-in.ts';
import { hashOf } from './record-adapter.ts';

const pendingSchema = z.strictObject({
  uid: z.string(),
  begun: z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string() }),
});
type Pending = z.infer<typeof pendingSchema>;

export interface PendingSignIns {
  add(uid: string, begun: BegunSignIn): Promise<void>;
  /** By the state that the provider sends back. */
  find(state: string): Promise<Pending | undefined>;
  /** True for the first who comes with the state, on whatever server. */
  take(state: string): Promise<boolean>;
}

const model = 'SignIn';

/** People who are at the provider, and will come back to any of the servers. */
export function createPendingSignIns({ records, seals, now }: { records: LoginRecords; seals: Seals; now: () => number }): PendingSignIns {
  const place = (id: string) => ({ id, field: 'login sign-in' });
  return {
    async add(uid, begun) {
      const id = hashOf(begun.state);
      const payload = seals.seal(JSON.stringify({ uid, begun }), place(id));
      const times = { consumed_at: null, used_at: now(), expires_at: now() + interactionSeconds * 1000 };
      await records.put({ model, id, payload, grant_id: null, ...times });
    },
    async find(state) {
      const id = hashOf(state);
      const row = await records.get(model, id);
      if (row === undefined || row.consumed_at !== null || (row.expires_at ?? 0) <= now()) return undefined;
      const content = seals.open(row.payload, place(id));
      return content === undefined ? undefined : pendingSchema.parse(JSON.parse(content));
    },
    take: (state) => records.consume(model, hashOf(state), now()),
  };
}
