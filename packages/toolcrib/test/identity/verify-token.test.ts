import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeySet } from '../../src/identity/jwks.ts';
import { createTokenVerifier } from '../../src/identity/verify-token.ts';
import { fetchDocument } from '../fixtures/loopback-egress.ts';
import { refusal } from '../fixtures/refusal.ts';
import { makeKey, startTokenIssuer } from '../fixtures/token-issuer.ts';

let idp: Awaited<ReturnType<typeof startTokenIssuer>>;
beforeAll(async () => {
  idp = await startTokenIssuer();
});
afterAll(() => idp[Symbol.asyncDispose]());

const seconds = () => Math.floor(Date.now() / 1000);

describe('an accepted token', () => {
  test('[ID-1] gives the principal with its whole payload', async () => {
    const claims = {
      sub: 'alice',
      azp: 'app',
      client_id: 'other',
      realm_access: { roles: ['a'] },
      exp: seconds() + 60,
      nbf: seconds() - 1,
    };
    const principal = await createTokenVerifier({ fetchDocument, issuers: [idp.config] }).verify(await idp.sign(claims));
    expect(principal).toMatchObject({
      issuer: idp.issuer,
      subject: 'alice',
      key: `${idp.issuer} alice`,
      client: 'app',
      expiresAt: claims.exp * 1000,
    });
    expect(principal.claims).toMatchObject({ ...claims, iss: idp.issuer, aud: 'toolcrib-gateway' });
  });

  test('[ID-1] gives a name for people to read, cleaned and bounded, or none if it has none', async () => {
    const verifier = createTokenVerifier({ fetchDocument, issuers: [idp.config] });
    const nameIn = async (claims: object) => (await verifier.verify(await idp.sign({ sub: 'u-1', ...claims }))).name;
    expect(await nameIn({ preferred_username: 'alice', email: 'a@acme.test', name: 'Alice A.' })).toBe('alice');
    expect(await nameIn({ preferred_username: '', email: 'a@acme.test', name: 'Alice A.' })).toBe('a@acme.test');
    expect(await nameIn({ preferred_username: ['alice'], email: 7, name: ' Zoë \n\t Ångström ' })).toBe('Zoë Ångström');
    expect(await nameIn({ name: '\u202eecila\u2066\u200b\0\u001b[31m\ud800' })).toBe('ecila[31m');
    expect(await nameIn({ name: '\u200f\u3164\u2028' })).toBeNull();
    expect(await nameIn({})).toBeNull();
    const long = await nameIn({ preferred_username: '🧰'.repeat(2000) });
    expect(long).toBe(`${'🧰'.repeat(49)}…`);

    const named = createTokenVerifier({ fetchDocument, issuers: [{ ...idp.config, name_claim: 'upn' }] });
    const both = await named.verify(await idp.sign({ sub: 'u-1', upn: 'alice@acme.test', preferred_username: 'alice' }));
    expect(both).toMatchObject({ subject: 'u-1', key: `${idp.issuer} u-1`, name: 'alice@acme.test' });
    expect((await named.verify(await idp.sign({ sub: 'u-1', preferred_username: 'alice' }))).name).toBe('alice');
  });

  test('has claims that cannot be changed, because later requests with the token share them', async () => {
    const principal = await createTokenVerifier({ fetchDocument, issuers: [idp.config] }).verify(
      await idp.sign({ realm_access: { roles: ['user'] } }),
    );
    expect(Object.isFrozen(principal)).toBe(true);
    expect(Object.isFrozen(principal.claims)).toBe(true);
    expect(principal.claims.realm_access).toSatisfy(
      (access: { roles: string[] }) => Object.isFrozen(access) && Object.isFrozen(access.roles),
    );
  });

  test.each([
    [{ client_id: 'other' }, 'other'],
    [{}, null],
    [{ azp: 7 }, null],
  ])('names its client by azp, then client_id, then unknown: %o', async (claims, client) => {
    expect(await createTokenVerifier({ fetchDocument, issuers: [idp.config] }).verify(await idp.sign(claims))).toMatchObject({ client });
  });

  test.each(['RS256', 'PS384', 'ES384', 'EdDSA', 'Ed25519'])('[ID-1] may be signed by %s', async (alg) => {
    await using other = await startTokenIssuer();
    const key = await makeKey('other', alg);
    other.published.push(key.publicJwk);
    expect(await createTokenVerifier({ fetchDocument, issuers: [other.config] }).verify(await other.sign({}, { key }))).toMatchObject({
      subject: 'user-1',
    });
  });

  test('[ID-1] may come from several issuers, each for its own audience', async () => {
    await using second = await startTokenIssuer();
    const verifier = createTokenVerifier({ fetchDocument, issuers: [idp.config, { ...second.config, audience: ['x', 'y'] }] });
    const [one, two] = await Promise.all([idp.sign(), second.sign({ aud: ['z', 'y'] })].map(async (token) => verifier.verify(await token)));
    expect(one?.issuer).toBe(idp.issuer);
    expect(two?.issuer).toBe(second.issuer);
    expect(one?.key).not.toBe(two?.key);
    expect(await refusal(await second.sign(), verifier)).toMatchObject({ message: /its audience must be x or y/ });
    expect(await refusal(await idp.sign({ aud: 'y' }), verifier)).toMatchObject({ message: /its audience must be toolcrib-gateway/ });
  });

  test('[ID-1] needs no request if the key set is known', async () => {
    const local = createKeySet({ fetchDocument, issuer: idp.issuer, jwksUri: `${idp.issuer}/keys` });
    const verifier = createTokenVerifier({
      issuers: [{ ...idp.config, keySet: local }],
      fetchDocument: () => Promise.reject(new Error('no request is expected')),
    });
    expect(await verifier.verify(await idp.sign())).toMatchObject({ subject: 'user-1' });
  });
});

describe('an issuer in trouble', () => {
  test('[ID-1] that cannot serve its keys is not the caller’s fault, and the operator learns why', async () => {
    await using other = await startTokenIssuer();
    other.answers.jwks = (_request, response) => response.writeHead(500).end();
    const reasons: unknown[] = [];
    const verifier = createTokenVerifier({ issuers: [other.config], fetchDocument, onFetchFailed: (reason) => reasons.push(reason) });
    const error = await refusal(await other.sign(), verifier);
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.not.stringContaining('/keys') });
    expect(reasons).toMatchObject([{ upstreamStatus: 500 }]);
  });
});
