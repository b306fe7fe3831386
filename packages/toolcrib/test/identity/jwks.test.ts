import type { RequestListener } from 'node:http';
import { errors } from 'jose';
import { describe, expect, test } from 'vitest';
import { createKeySet } from '../../src/identity/jwks.ts';
import type { KeySetOptions } from '../../src/identity/jwks.ts';
import { endlessAnswer } from '../fixtures/http-server.ts';
import { fetchDocument } from '../fixtures/loopback-egress.ts';
import { makeKey, startTokenIssuer } from '../fixtures/token-issuer.ts';
import { until, untilSeen } from '../running-server.ts';

type Idp = Awaited<ReturnType<typeof startTokenIssuer>>;

/** A key set of the issuer, under a clock that stands still until it is moved. */
function keySetOf(idp: Idp, options: Partial<KeySetOptions> = {}) {
  const clock = { time: 1_000_000_000_000 };
  const failures: unknown[] = [];
  const onFetchFailed = (error: unknown) => failures.push(error);
  const find = createKeySet({ fetchDocument, issuer: idp.issuer, now: () => clock.time, onFetchFailed, ...options });
  return { clock, failures, key: (kid?: string, alg = 'ES256') => find({ alg, kid }) };
}

const unknownKey = { code: 'ERR_JWKS_NO_MATCHING_KEY' };
const unavailable = { code: 'SERVICE_UNAVAILABLE', retryable: true };

describe('the address of the keys', () => {
  test('[ID-1] comes from the issuer, who is asked once', async () => {
    await using idp = await startTokenIssuer();
    const { key, clock } = keySetOf(idp);
    expect(await key('first')).toMatchObject({ type: 'public' });
    clock.time += 600_000;
    await key('first');
    expect(idp.fetches).toEqual({ discovery: 1, jwks: 2, token: 0 });
  });

  test('[ID-1] needs no discovery if it is configured', async () => {
    await using idp = await startTokenIssuer();
    await keySetOf(idp, { jwksUri: `${idp.issuer}/keys` }).key('first');
    expect(idp.fetches).toEqual({ discovery: 0, jwks: 1, token: 0 });
  });

  test.each([
    ['another issuer', (issuer: string) => JSON.stringify({ issuer: `${issuer}/`, jwks_uri: `${issuer}/keys` })],
    ['no keys', (issuer: string) => JSON.stringify({ issuer })],
    ['an address that is none', (issuer: string) => JSON.stringify({ issuer, jwks_uri: '/keys' })],
    ['a file', (issuer: string) => JSON.stringify({ issuer, jwks_uri: 'file:///etc/hostname' })],
    ['plain http elsewhere', (issuer: string) => JSON.stringify({ issuer, jwks_uri: 'http://keys.example.org/' })],
    ['nothing that is JSON', () => '<html>'],
  ])('[ID-1] is not taken from a discovery document that names %s', async (_name, body) => {
    await using idp = await startTokenIssuer();
    idp.answers.discovery = (_request, response) => response.end(body(idp.issuer));
    const { key, failures } = keySetOf(idp);
    await expect(key('first')).rejects.toMatchObject(unavailable);
    expect(failures).toHaveLength(1);
    expect(idp.fetches.jwks).toBe(0);
  });

  test('is looked up again when it stops working', async () => {
    await using idp = await startTokenIssuer();
    const { key, clock, failures } = keySetOf(idp);
    await key('first');
    idp.answers.jwks = (_request, response) => response.writeHead(404).end();
    clock.time += 60_000;
    await key('first');
    await untilSeen(() => failures.length === 1);
    idp.answers.jwks = undefined;
    clock.time += 30_000;
    await key('first');
    expect(await untilSeen(() => idp.fetches.discovery === 2)).toBe(true);
  });
});

describe('a key set', () => {
  test('[ID-1] is used without its symmetric keys, private keys, encryption keys and nonsense', async () => {
    await using idp = await startTokenIssuer();
    const { publicJwk } = await makeKey('other');
    idp.published.push(
      { kty: 'oct', k: 'c2VjcmV0', kid: 'symmetric' },
      { ...publicJwk, d: publicJwk.x, kid: 'private' },
      { ...publicJwk, use: 'enc', kid: 'encryption' },
      { kty: 'unheard-of', kid: 'strange' },
      { ...publicJwk, kid: 'good' },
    );
    // So deep that copying or printing it would overflow the stack.
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    idp.answers.jwks = (_request, response) => response.end(`{"keys": [null, 7, "x", ${deep}, ${JSON.stringify(idp.published).slice(1)}}`);
    const { key } = keySetOf(idp);
    for (const kid of ['symmetric', 'private', 'encryption', 'strange']) await expect(key(kid)).rejects.toMatchObject(unknownKey);
    await expect(key('symmetric', 'HS256')).rejects.toMatchObject({ code: 'ERR_JOSE_NOT_SUPPORTED' });
    expect(await key('good')).toMatchObject({ type: 'public' });
  });

  const notKeys: [string, RequestListener][] = [
    ['a redirect', (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end()],
    ['a list of keys that is none', (_request, response) => response.end('{"keys": {}}')],
    ['JSON without end', (_request, response) => response.end('['.repeat(500_000))],
    ['nothing', (_request, response) => response.end()],
  ];
  test.each(notKeys)('[ID-1] that is %s is refused, and the issuer counts as unavailable', async (_name, answer) => {
    await using idp = await startTokenIssuer();
    idp.answers.jwks = answer;
    const { key, failures } = keySetOf(idp);
    await expect(key('first')).rejects.toMatchObject(unavailable);
    expect(failures).toHaveLength(1);
    expect(idp.fetches.jwks).toBe(1);
  });

  test('[ID-1] without end is cut off after its first mebibyte', async () => {
    await using idp = await startTokenIssuer();
    const { handle, sentBytes } = endlessAnswer();
    idp.answers.jwks = handle;
    const { key, failures } = keySetOf(idp);
    await expect(key('first')).rejects.toMatchObject(unavailable);
    expect(failures).toMatchObject([{ code: 'PAYLOAD_TOO_LARGE' }]);
    expect(await sentBytes).toBeLessThan(32 * 1_048_576);
  });
});

describe('the keys of an issuer', () => {
  test('[ID-1] are fetched once for a hundred first uses at once', async () => {
    await using idp = await startTokenIssuer();
    const { key } = keySetOf(idp);
    await Promise.all(Array.from({ length: 100 }, () => key('first')));
    expect(idp.fetches).toEqual({ discovery: 1, jwks: 1, token: 0 });
  });

  test('[ID-1] are fetched once per cooldown in a flood of unknown keys, and known keys keep working', async () => {
    await using idp = await startTokenIssuer();
    const { key, clock } = keySetOf(idp);
    await key('first');
    const flood = async (from: number) => {
      const attempts = Array.from({ length: 500 }, (_, index) => key(`unknown-${from + index}`));
      const results = await Promise.allSettled([...attempts, key('first')]);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    };
    await flood(0);
    expect(idp.fetches.jwks).toBe(1);
    for (let round = 1; round <= 3; round += 1) {
      clock.time += 30_000;
      await flood(round * 1000);
      await flood(round * 1000 + 500);
      expect(idp.fetches.jwks).toBe(1 + round);
    }
  });

  test('[ID-1] include a new one as soon as a token signed by it comes', async () => {
    await using idp = await startTokenIssuer();
    const { key, clock } = keySetOf(idp);
    await key('first');
    idp.published.push((await makeKey('second')).publicJwk);
    clock.time += 30_000;
    expect(await key('second')).toMatchObject({ type: 'public' });
    await key('first');
    expect(idp.fetches.jwks).toBe(2);
  });

  test('[ID-1] lose a withdrawn one soon after the set is a minute old, and nobody waits for that', async () => {
    await using idp = await startTokenIssuer();
    const { key, clock } = keySetOf(idp);
    await key('first');
    idp.published.splice(0, 1, (await makeKey('second')).publicJwk);
    clock.time += 60_000;
    await key('first');
    await until(async () => (await key('first').catch((error: unknown) => error)) instanceof errors.JWKSNoMatchingKey);
    await key('second');
    expect(idp.fetches.jwks).toBe(2);
  });

  test('[ID-1] lose a withdrawn one after five minutes without requests', async () => {
    await using idp = await startTokenIssuer();
    const { key, clock } = keySetOf(idp);
    await key('first');
    idp.published.splice(0, 1, (await makeKey('second')).publicJwk);
    clock.time += 300_000;
    await expect(key('first')).rejects.toMatchObject(unknownKey);
  });

  test('are refreshed even if the clock is set back', async () => {
    await using idp = await startTokenIssuer();
    const { key, clock } = keySetOf(idp);
    await key('first');
    clock.time -= 86_400_000;
    await key('first');
    expect(idp.fetches.jwks).toBe(2);
  });
});

describe('an issuer that is down', () => {
  test('[ID-1] works as soon as it is back, even for a server that started before it', async () => {
    await using idp = await startTokenIssuer();
    await idp.stop();
    const { key, clock, failures } = keySetOf(idp);
    await Promise.all(Array.from({ length: 50 }, () => expect(key('first')).rejects.toMatchObject(unavailable)));
    expect(failures).toHaveLength(1);
    await idp.restart();
    await expect(key('first')).rejects.toMatchObject(unavailable);
    expect(idp.fetches.discovery).toBe(0);
    clock.time += 5_000;
    await key('first');
  });

  test('[ID-1] is served by known keys for five minutes, and no longer: one of them may have been withdrawn', async () => {
    await using idp = await startTokenIssuer();
    const { key, clock, failures } = keySetOf(idp);
    await key('first');
    await idp.stop();
    clock.time += 60_000;
    await key('first');
    await untilSeen(() => failures.length === 1);
    // A key that may have been made since is neither accepted nor held against the caller.
    await expect(key('second')).rejects.toMatchObject(unavailable);
    clock.time += 239_999;
    await key('first');
    clock.time += 1;
    await expect(key('first')).rejects.toMatchObject(unavailable);
    await idp.restart();
    clock.time += 5_000;
    await key('first');
  });

  test('[ID-1] does not lose its known keys by an answer that is not a key set', async () => {
    await using idp = await startTokenIssuer();
    const { key, clock, failures } = keySetOf(idp);
    await key('first');
    idp.answers.jwks = (_request, response) => response.end('<html>Maintenance</html>');
    clock.time += 60_000;
    await key('first');
    await untilSeen(() => failures.length === 1);
    expect(await key('first')).toMatchObject({ type: 'public' });
  });
});
