import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, test } from 'vitest';
import { devAudiences, devUsers } from '../../src/identity/development/dev-users.ts';
import { createTokenVerifier } from '../../src/identity/verify-token.ts';
import { fetchDocument } from '../fixtures/loopback-egress.ts';
import { freshRealm, openRealm, type KeycloakRealm } from '../fixtures/keycloak-realm.ts';
import { part } from '../parts.ts';
import { startTestServer } from '../running-server.ts';

const keycloak = part('keycloak');
const issuer = keycloak.available ? keycloak.url : '';

async function startWith(realm: KeycloakRealm) {
  const server = await startTestServer({ issuers: [realm.config] });
  const as = async (username: string) => server.client((await realm.signIn(username)).access_token);
  return { server, as, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

describe.skipIf(!keycloak.available)('with Keycloak', () => {
  test.each(devUsers)('[ID-1] $username is the same person there as in development', async ({ username, ...user }) => {
    const realm = openRealm(issuer);
    const { access_token: token } = await realm.signIn(username);
    const claims = decodeJwt<{ realm_access: { roles: string[] } }>(token);
    expect(claims).toMatchObject({
      aud: 'toolcrib-gateway',
      sub: user.sub,
      preferred_username: username,
      email: user.email,
      department: user.department,
      groups: user.groups,
    });
    expect(claims.realm_access.roles).toEqual(expect.arrayContaining(user.roles));
    const exchanges = devAudiences.map(async (audience) => {
      const { access_token: exchanged, error } = await realm.exchange(token, audience);
      if (error !== undefined) return [audience, error];
      const { aud, sub, resource_access: access } = decodeJwt<{ resource_access: Record<string, { roles: string[] }> }>(exchanged);
      return [audience, aud === audience && sub === user.sub ? access[audience]?.roles : 'another'];
    });
    const expected = devAudiences.map((audience) => [audience, user.audiences[audience] ?? 'invalid_request']);
    expect(await Promise.all(exchanges)).toEqual(expected);
  });

  test('[POL-3] two users see different tools, and changing one policy moves a tool from one to the other', async () => {
    await using crib = await startWith(openRealm(issuer));
    const [admin, alice, bob] = await Promise.all([crib.as('admin'), crib.as('alice'), crib.as('bob')]);
    await admin.post('/api/groups', { id: 'sums', name: 'Sums', include: ['builtin:calculator'] });
    const policyFor = (group: string) => ({
      name: 'Who may do sums',
      matchers: [{ path: 'groups', operator: 'contains', value: group }],
      groups: ['sums'],
    });
    await admin.post('/api/policies', { id: 'sums', ...policyFor('/managers') });
    expect([await alice.listedNames(), await bob.listedNames()]).toEqual([['builtin:calculator'], []]);

    expect((await admin.put('/api/policies/sums', policyFor('/kitchen'))).status).toBe(200);
    expect([await alice.listedNames(), await bob.listedNames()]).toEqual([[], ['builtin:calculator']]);
    const sum = { expression: '6 * 7' };
    expect(await alice.call('builtin:calculator', sum)).toMatchObject({ status: 404 });
    expect(await bob.call('builtin:calculator', sum)).toMatchObject({ status: 200, json: { text: '42' } });
  });

  test('[BFF-6] a realm role decides who administers', async () => {
    await using crib = await startWith(openRealm(issuer));
    const statusFor = async (username: string) => (await (await crib.as(username)).get('/api/sources')).status;
    expect([await statusFor('alice'), await statusFor('admin')]).toEqual([403, 200]);
  });

  test('[ID-1] only an access token for the gateway is accepted, although Keycloak has signed the others too', async () => {
    const realm = openRealm(issuer);
    await using crib = await startWith(realm);
    const alice = await realm.signIn('alice');
    const { access_token: forPizzeria } = await realm.exchange(alice.access_token, 'pizzeria-api');
    // What a compromised upstream would try. Keycloak would play along, for the gateway is the very client that token was issued to.
    expect(await realm.exchange(forPizzeria, 'inventory-api')).not.toHaveProperty('error');

    const { access_token: ofService } = await realm.serviceToken();
    for (const token of [alice.id_token, alice.refresh_token, forPizzeria, ofService]) {
      expect(await crib.server.client(token).get('/api/bff/tools')).toMatchObject({ status: 401, json: { code: 'UNAUTHENTICATED' } });
    }
    expect(await crib.server.client(alice.access_token).get('/api/bff/tools')).toMatchObject({ status: 200 });
  });

  test('[ID-1] an ID token of Keycloak is refused by default, even if its audience is right', async () => {
    const realm = openRealm(issuer);
    const { id_token: idToken, access_token: accessToken } = await realm.signIn('alice');
    // As somebody would have it who takes the client that people sign in with for the audience, and says nothing of types.
    const audience = ['toolcrib-cli', 'toolcrib-gateway'];
    const verifier = createTokenVerifier({ issuers: [{ issuer: realm.issuer, audience }], fetchDocument });
    await expect(verifier.verify(idToken)).rejects.toMatchObject({ code: 'UNAUTHENTICATED', message: /This is an ID token/ });
    await expect(verifier.verify(accessToken)).resolves.toMatchObject({ client: 'toolcrib-cli' });
  });

  test('[ID-1] a new signing key is followed without a restart', async () => {
    await using realm = await freshRealm(issuer);
    let now = Date.now();
    const verifier = createTokenVerifier({ issuers: [realm.config], fetchDocument, now: () => now });
    const before = await realm.signIn('alice');
    const { subject } = await verifier.verify(before.access_token);

    const { id } = (await (await realm.administer('GET', '')).json()) as { id: string };
    const config = { priority: ['200'], enabled: ['true'], active: ['true'], algorithm: ['RS256'], keySize: ['2048'] };
    const provider = { name: 'next', providerId: 'rsa-generated', providerType: 'org.keycloak.keys.KeyProvider', parentId: id, config };
    expect((await realm.administer('POST', '/components', provider)).status).toBe(201);
    const after = await realm.signIn('alice');
    expect(decodeProtectedHeader(after.access_token).kid).not.toBe(decodeProtectedHeader(before.access_token).kid);
    // Keys are asked for again after a pause only, lest made-up key names make us ask without end.
    now += 31_000;
    expect(await verifier.verify(after.access_token)).toMatchObject({ subject });
    expect(await verifier.verify(before.access_token)).toMatchObject({ subject });
  });
});
