import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, importJWK, type CryptoKey, type JWK } from 'jose';
import { z } from 'zod';
import { CribError } from '../model/crib-error.ts';
import { sealedLogin } from '../secrets/sealed-login.ts';
import type { Seals } from '../secrets/seals.ts';
import type { Store } from '../store/store.ts';

/** A key that the bridge signs with, and what it signs cookies with meanwhile. */
interface BridgeKey {
  readonly kid: string;
  readonly createdAt: number;
  readonly privateJwk: JWK;
  readonly publicKey: CryptoKey;
  readonly cookieKey: string;
}

export interface BridgeKeys {
  /** The newest first. */
  readonly all: readonly BridgeKey[];
  find(kid: string | undefined): BridgeKey | undefined;
  /** Reads the keys of all servers again. True where they are others than before. */
  reload(): Promise<boolean>;
  /** Makes a new key where the newest is old, and deletes those whose tokens have expired. True where anything changed. */
  rotate(): Promise<boolean>;
}

interface BridgeKeysInput {
  store: Store;
  seals: Seals;
  now: () => number;
  /** How long a token that is signed with a key may be used: for as long the key has to stay. */
  tokenMs: number;
  rotateAfterMs?: number;
}

const coordinate = z.string().regex(/^[A-Za-z0-9_-]{43}$/);
const contentSchema = z.strictObject({
  private_key: z.strictObject({ kty: z.literal('EC'), crv: z.literal('P-256'), x: coordinate, y: coordinate, d: coordinate }),
  cookie_key: z.string().min(32),
});

const dayMs = 86_400_000;
/** A login that is under way carries a cookie that an older key signed, and servers notice a new key a moment later. */
const slackMs = 3_600_000;
const { name: field } = sealedLogin.key;

/** [LOGIN-3] The signing keys, sealed in the store and shared by all servers on it. */
export async function openBridgeKeys(input: BridgeKeysInput): Promise<BridgeKeys> {
  const { store, seals, now, tokenMs, rotateAfterMs = 90 * dayMs } = input;
  let all: BridgeKey[] = [];

  async function read(): Promise<BridgeKey[]> {
    const keys = (await store.loginKeys.list()).map(async ({ id, created_at, sealed }): Promise<BridgeKey> => {
      const content = seals.open(sealed, { id, field });
      if (content === undefined)
        throw new CribError(
          'CONFLICT',
          'The signing key of the login bridge does not open. Give this server the keys of those it shares its database with, in TOOLCRIB_KEYS',
        );
      const { private_key: jwk, cookie_key } = contentSchema.parse(JSON.parse(content));
      const { d: _private, ...publicJwk } = jwk;
      const publicKey = await importJWK({ ...publicJwk }, 'ES256');
      return { kid: id, createdAt: created_at, privateJwk: jwk, publicKey, cookieKey: cookie_key };
    });
    return Promise.all(keys);
  }

  async function reload(): Promise<boolean> {
    const before = all.map(({ kid }) => kid).join(' ');
    all = await read();
    return before !== all.map(({ kid }) => kid).join(' ');
  }

  /** Recorded, so that the other servers read the keys again. */
  const changed = (kind: string, kid: string) =>
    ({ kind, topic: 'login', subject: kid, actor: 'system', before: null, after: { key: kid } }) as const;

  async function make(): Promise<void> {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { kty, crv, x, y, d } = privateKey.export({ format: 'jwk' });
    const id = await calculateJwkThumbprint({ kty: kty ?? '', crv: crv ?? '', x: x ?? '', y: y ?? '' });
    const content = JSON.stringify({ private_key: { kty, crv, x, y, d }, cookie_key: randomBytes(32).toString('base64url') });
    const row = { id, created_at: now(), sealed: seals.seal(content, { id, field }) };
    await store.change(changed('login-key-made', id), (tx) => tx.loginKeys.put(row));
  }

  /** Two servers that start at once must not make two keys. */
  function rotate(): Promise<boolean> {
    return store.exclusively(async () => {
      const differs = await reload();
      const [newest] = all;
      if (newest === undefined || now() - newest.createdAt >= rotateAfterMs) await make();
      // Each is of use until the tokens that it signed last have expired: those of the moment when the next one was made.
      const outdated = all.filter((_key, index) => now() - (all[index - 1]?.createdAt ?? now()) > tokenMs + slackMs);
      for (const { kid } of outdated) await store.change(changed('login-key-retired', kid), (tx) => tx.loginKeys.delete(kid));
      return (await reload()) || differs;
    });
  }

  await rotate();
  return {
    get all() {
      return all;
    },
    find: (kid) => all.find((key) => key.kid === kid),
    reload,
    rotate,
  };
}
