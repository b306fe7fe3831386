import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openBridgeKeys } from '../../src/login-bridge/bridge-keys.ts';
import { parseKeyRing } from '../../src/secrets/key-ring.ts';
import { rekeyRows } from '../../src/secrets/rekey-rows.ts';
import { createSeals } from '../../src/secrets/seals.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { createStore } from '../../src/store/store.ts';
import { temporaryDirectory } from '../running-server.ts';

const day = 86_400_000;
const newKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

test('[LOGIN-3] signing keys are kept, replaced after 90 days, and published until the last of their tokens has expired', async () => {
  await using folder = await temporaryDirectory();
  await using database = await openDatabase({ file: `${folder.path}/database` });
  const store = createStore(database);
  const old = newKey('old');
  let now = 1_000_000_000_000;
  const open = (ring: string) =>
    openBridgeKeys({ store, seals: createSeals(parseKeyRing(ring, 'the test')), now: () => now, tokenMs: 600_000 });

  const keys = await open(old);
  const [first] = keys.all;
  expect(keys.all).toHaveLength(1);
  expect((await open(old)).all.map(({ kid }) => kid)).toEqual([first?.kid]);
  expect((await store.loginKeys.list())[0]?.sealed).not.toContain(first?.privateJwk.d);

  now += 91 * day;
  expect(await keys.rotate()).toBe(true);
  const [second] = keys.all;
  expect(keys.all.map(({ kid }) => kid)).toEqual([second?.kid, first?.kid]);
  now += 600_000;
  expect(await keys.rotate()).toBe(false);
  expect(keys.find(first?.kid)).toBeDefined();
  now += 2 * 3_600_000;
  expect(await keys.rotate()).toBe(true);
  expect(keys.all.map(({ kid }) => kid)).toEqual([second?.kid]);

  const both = `${newKey('new')} ${old}`;
  await rekeyRows({ store, keyRing: parseKeyRing(both, 'the test'), actor: 'system' });
  const [renewed] = both.split(' ');
  expect((await open(renewed ?? '')).all.map(({ kid }) => kid)).toEqual([second?.kid]);
  await expect(open(newKey('another'))).rejects.toThrow('TOOLCRIB_KEYS');
});
