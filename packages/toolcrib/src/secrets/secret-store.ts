import { randomUUID } from 'node:crypto';
import { CribError } from '../model/crib-error.ts';
import type { ChangedBy } from '../model/event.ts';
import type { SecretRow } from '../store/secrets.ts';
import type { Store, StoreNouns } from '../store/store.ts';
import { checkSecret, nothingToKeep } from './check-secret.ts';
import type { KeyRing } from './key-ring.ts';
import { rekeyRows, type RekeyOptions, type RekeyOutcome } from './rekey-rows.ts';
import { ownerOf } from './secret-name.ts';
import { asSecretRow } from './sealed-connection.ts';
import { hiddenValue, Secret } from './secret.ts';
import { open, seal } from './seal.ts';
import { describeForeign, foreignRows, placeOf, unknownKids } from './stored-secret.ts';

/** What may be shown of a secret. */
export interface SecretSummary {
  name: string;
  created_at: number;
  updated_at: number;
}

/** Writing within a change that somebody else makes and records, such as registering a source; `forget` has to follow its commit. */
interface SecretWriter {
  put(name: string, value: string): Promise<{ secret: SecretSummary; created: boolean }>;
  delete(name: string): Promise<boolean>;
  /** All secrets that were made for a source, whose end is theirs. */
  deleteOf(sourceId: string): Promise<void>;
}

export interface SecretStore {
  /** Makes it or replaces it. [ENV-4] `***` keeps the value that is stored. */
  put(name: string, value: string, by?: Partial<ChangedBy>): Promise<{ secret: SecretSummary; created: boolean }>;
  /** Throws `CONFLICT` where there is one that does not open. */
  get(name: string): Promise<Secret | undefined>;
  list(): Promise<SecretSummary[]>;
  /** Throws `NOT_FOUND` where there is none. `check` may refuse it by what is there at that moment. */
  delete(name: string, by?: Partial<ChangedBy>, check?: (tx: StoreNouns) => Promise<void>): Promise<void>;
  /** Seals everything with the newest key, all of it or nothing, and is harmless to repeat. */
  rekey(options?: RekeyOptions & { actor?: string }): Promise<RekeyOutcome>;
  within(transaction: StoreNouns): SecretWriter;
  /** Clears the cache: secrets, or the sources they belong to, have changed. */
  forget(): void;
  /** Throws `CONFLICT` where the stored secrets belong to another ring; warns of single ones that do not open. */
  verify(options: { warn(message: string): void }): Promise<void>;
}

interface Memory {
  rows: Promise<Map<string, SecretRow>>;
  opened: Map<string, Secret>;
}

/** [SEC-3] The secrets, sealed in the database and opened in memory. */
export function createSecretStore({ store, keyRing }: { store: Store; keyRing: KeyRing }): SecretStore {
  let memory: Memory | undefined;

  /** A read that began before `forget` is not cached, so nothing old is ever remembered as new. */
  function remembered(): Memory {
    if (memory !== undefined) return memory;
    const rows = store.secrets.list().then((list) => new Map(list.map((row) => [row.name, row])));
    const begun: Memory = { rows, opened: new Map() };
    rows.catch(() => {
      if (memory === begun) memory = undefined;
    });
    memory = begun;
    return begun;
  }

  function within(tx: StoreNouns): SecretWriter {
    const named = async (name: string) => (await tx.secrets.list()).find((row) => row.name === name);
    return {
      async put(name, value) {
        checkSecret(name, value);
        const rows = await tx.secrets.list();
        // A second ring on one database would seal what nobody else can open. The first to write decides.
        const kids = unknownKids(keyRing, rows);
        if (kids.length > 0) throw new CribError('CONFLICT', describeForeign(keyRing, kids));
        const known = rows.find((row) => row.name === name);
        if (value === hiddenValue) return { secret: summary(known ?? nothingToKeep(name)), created: false };
        // Only what this ring can open is replaced; anything else may be somebody's only copy.
        if (known !== undefined) open(keyRing, known.sealed, placeOf(known));
        const now = Date.now();
        const row = { id: known?.id ?? randomUUID(), name, created_at: known?.created_at ?? now, updated_at: now };
        await tx.secrets.put({ ...row, sealed: seal(keyRing, value, placeOf(row)) });
        return { secret: summary(row), created: known === undefined };
      },
      async delete(name) {
        const row = await named(name);
        return row !== undefined && (await tx.secrets.delete(row.id));
      },
      async deleteOf(sourceId) {
        for (const row of await tx.secrets.list()) if (ownerOf(row.name) === sourceId) await tx.secrets.delete(row.id);
      },
    };
  }

  const change = async <Result>(
    kind: string,
    subject: string,
    by: Partial<ChangedBy>,
    mutate: (tx: StoreNouns) => Promise<Mutated<Result>>,
  ) => {
    const made = { kind, topic: 'secret' as const, subject, actor: 'system', ...by };
    const event = { ...made, before: null as string | null, after: null as string | null };
    let result: Result | undefined;
    await store.change(event, async (tx) => {
      const made = await mutate(tx);
      event.before = made.before ? hiddenValue : null;
      event.after = made.after ? hiddenValue : null;
      result = made.result;
    });
    memory = undefined;
    return result as Result;
  };

  return {
    within,

    async put(name, value, by = {}) {
      // Nothing changes, so nothing is recorded.
      if (value === hiddenValue) return store.snapshot((nouns) => within(nouns).put(name, value));
      return change('secret-set', name, by, async (tx) => {
        const result = await within(tx).put(name, value);
        return { before: !result.created, after: true, result };
      });
    },

    async get(name) {
      const { rows, opened } = remembered();
      const row = (await rows).get(name);
      if (row === undefined) return undefined;
      let secret = opened.get(name);
      if (secret === undefined) {
        secret = new Secret(openNamed(keyRing, row));
        opened.set(name, secret);
      }
      return secret;
    },

    async list() {
      return (await store.secrets.list()).map(summary);
    },

    async delete(name, by = {}, check) {
      await change('secret-deleted', name, by, async (tx) => {
        await check?.(tx);
        if (!(await within(tx).delete(name))) throw new CribError('NOT_FOUND', 'There is no such secret');
        return { before: true, after: false, result: undefined };
      });
    },

    async rekey({ actor = 'system', ...options } = {}) {
      const outcome = await rekeyRows({ store, keyRing, actor, ...options });
      memory = undefined;
      return outcome;
    },

    forget() {
      memory = undefined;
    },

    async verify({ warn }) {
      const rows = [...(await store.secrets.list()), ...(await store.connections.list()).map(asSecretRow)];
      const { foreign, damaged } = foreignRows(keyRing, rows);
      if (foreign.length > 0) throw new CribError('CONFLICT', describeForeign(keyRing, foreign));
      for (const { name } of damaged) warn(`The secret ${name} does not open. Restore it from a backup, or delete it and set it again.`);
    },
  };
}

interface Mutated<Result> {
  before: boolean;
  after: boolean;
  result: Result;
}

function openNamed(keyRing: KeyRing, row: SecretRow): string {
  try {
    return open(keyRing, row.sealed, placeOf(row));
  } catch (error) {
    if (!(error instanceof CribError)) throw error;
    throw new CribError(error.code, error.message.replace(/^The secret /, `The secret ${row.name} `));
  }
}

function summary({ name, created_at, updated_at }: SecretSummary): SecretSummary {
  return { name, created_at, updated_at };
}
