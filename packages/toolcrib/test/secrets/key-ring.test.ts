import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { isWrittenKeys, parseKeyRing } from '../../src/secrets/key-ring.ts';
import { addKey, openKeyRing } from '../../src/secrets/open-key-ring.ts';
import { writtenKey } from './key-rings.ts';

const directories: string[] = [];
let dataDir = '';
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'toolcrib-keys-'));
  directories.push(dataDir);
});
afterAll(() => Promise.all(directories.map((path) => rm(path, { recursive: true, force: true }))));

const base64 = () => randomBytes(32).toString('base64');

describe('[SEC-3] keys from TOOLCRIB_KEYS', () => {
  test.each([
    ['pairs with commas', () => `new:${base64()},old:${base64()}`],
    ['pairs with spaces and line breaks', () => ` new:${base64()}\n  old:${base64()}\n`],
    ['base64 for addresses', () => `new:${randomBytes(32).toString('base64url')} old:${base64()}`],
    [
      'JSON',
      () =>
        JSON.stringify([
          { kid: 'new', key: base64() },
          { kid: 'old', key: base64() },
        ]),
    ],
  ])('are read as %s, and the first is the newest', (_form, written) => {
    const ring = openKeyRing({ keys: written(), dataDir, create: false });
    expect({ newest: ring.newest.kid, kids: ring.kids }).toEqual({ newest: 'new', kids: ['new', 'old'] });
    expect(ring.find('old')?.key.symmetricKeySize).toBe(32);
    expect(ring.find('other')).toBeUndefined();
  });

  test('are read from a file in any of these forms', async () => {
    const file = join(dataDir, 'shared-keys');
    await writeFile(file, `${writtenKey('new')}\n${writtenKey('old')}\n`);
    expect(openKeyRing({ keys: file, dataDir, create: false }).kids).toEqual(['new', 'old']);
  });

  const letters = Buffer.from('change-me-change-me-32-letters!!').toString('base64');
  test.each([
    ['nothing at all', '[]', /no key in it/],
    ['a short key', `k1:${randomBytes(16).toString('base64')}`, /k1 .* has 128 bits and must have 256/],
    ['a long key', `k1:${randomBytes(48).toString('base64')}`, /has 384 bits/],
    ['zeros', `k1:${Buffer.alloc(32).toString('base64')}`, /sample or a password/],
    ['a ladder', `k1:${Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64')}`, /sample or a password/],
    ['a pattern', `k1:${Buffer.from('deadbeef'.repeat(8), 'hex').toString('base64')}`, /sample or a password/],
    ['readable text', `k1:${letters}`, /sample or a password/],
    ['one id for two keys', `k1:${base64()},k1:${base64()}`, /two keys have the id k1/],
    ['JSON of another form', '{"k1": "x"}', /must be a JSON list/],
    ['JSON with more in it', JSON.stringify([{ kid: 'k1', key: base64(), note: 'x' }]), /must be a JSON list/],
    ['broken JSON', '[{"kid":', /must be a JSON list/],
    ['an id with a dot', `a.b:${base64()}`, /neither keys .* nor a file/],
    ['a file that is not there', '/no/such/file', /neither keys .* nor a file that can be read \(ENOENT\)/],
  ])('are refused as %s', (_what, keys, message) => {
    expect(() => openKeyRing({ keys, dataDir, create: true })).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', message: expect.stringMatching(message) }),
    );
  });

  test('are not repeated in an error if one is malformed', () => {
    const key = base64();
    for (const keys of [`k1:${key}x`, `k1=${key}`, `k1:${key},k2`, `[{"kid":"k1","key":"${key}"`, `[{"kid":"k1","key":"${key}","a":1}]`]) {
      let error: unknown;
      try {
        openKeyRing({ keys, dataDir, create: true });
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(Error);
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(key.slice(0, 20));
    }
  });

  test('are not shown when the ring is printed', () => {
    const key = base64();
    const ring = parseKeyRing(`k1:${key}`, 'the test');
    expect(inspect(ring, { depth: 9, showHidden: true }) + JSON.stringify(ring)).not.toContain(key.slice(0, 12));
  });

  test.each(['/etc/toolcrib/keys.json', './keys', 'C:\\keys.json', 'keys.txt'])(
    'are read from a file if they look like a path: %s',
    (path) => {
      expect(isWrittenKeys(path)).toBe(false);
    },
  );
});

describe('[SEC-3] keys.json', () => {
  test('is created on the first start, for this account only, and read from then on', async () => {
    const first = openKeyRing({ dataDir, create: true });
    expect((await stat(join(dataDir, 'keys.json'))).mode & 0o777).toBe(0o600);
    const again = openKeyRing({ dataDir, create: true });
    expect(again.kids).toEqual(first.kids);
    expect(again.newest.key.equals(first.newest.key)).toBe(true);
  });

  test('is not created when it is only to be read', async () => {
    expect(() => openKeyRing({ dataDir, create: false })).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    await expect(stat(join(dataDir, 'keys.json'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('that came back with wider permissions is closed again', async () => {
    openKeyRing({ dataDir, create: true });
    await chmod(join(dataDir, 'keys.json'), 0o644);
    openKeyRing({ dataDir, create: true });
    expect((await stat(join(dataDir, 'keys.json'))).mode & 0o777).toBe(0o600);
  });

  test('that is damaged is refused and left unchanged', async () => {
    await writeFile(join(dataDir, 'keys.json'), '[{"kid": "k1", "key": ');
    expect(() => openKeyRing({ dataDir, create: true })).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
    expect(await readFile(join(dataDir, 'keys.json'), 'utf8')).toBe('[{"kid": "k1", "key": ');
  });

  test('gets a new key in front, and keeps the older ones', () => {
    const before = openKeyRing({ dataDir, create: true });
    const after = addKey(dataDir, { anew: false });
    expect(after.kids).toEqual([after.newest.kid, ...before.kids]);
    expect(openKeyRing({ dataDir, create: false }).kids).toEqual(after.kids);
  });
});
