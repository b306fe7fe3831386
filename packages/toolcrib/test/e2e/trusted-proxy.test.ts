import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { adminClaims, startTestServer, type TestServer, until } from '../running-server.ts';

const peer = '127.0.0.1';
let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
/** One that trusts nobody, and one behind two proxies: this machine, and those of a private network. */
let open: TestServer;
let behind: TestServer;

beforeAll(async () => {
  issuer = await startTokenIssuer();
  open = await startTestServer({ issuers: [issuer.config] });
  behind = await startTestServer({ issuers: [issuer.config], trustedProxies: [peer, '10.0.0.0/8'] });
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await behind[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

/** The address in the record of a request that is refused, and of a change. */
async function recorded(server: TestServer, headers: Record<string, string>): Promise<string[]> {
  const admin = server.client(await issuer.sign(adminClaims));
  const newest = async () => ((await admin.get('/api/refusals?limit=1')).json.refusals as { id: string; address: string }[])[0];
  const before = await newest();
  const id = `group-${randomUUID()}`;
  await server.client('no.token.at-all').get('/api/me', headers);
  await admin.post('/api/groups', { id, name: id }, headers);
  const { events } = (await admin.get('/api/events?topic=group')).json as { events: { subject: string; address: string }[] };
  const refusal = await until(async () => {
    const last = await newest();
    return last !== undefined && last.id !== before?.id && last;
  });
  return [refusal.address, events.find(({ subject }) => subject === id)?.address ?? ''];
}

test.each<[what: string, header: string, address: string]>([
  ['a forged address precedes the one that the proxy saw', '192.0.2.66, 203.0.113.7', '203.0.113.7'],
  ['proxies that are trusted are passed over', '192.0.2.66, 203.0.113.7, 10.1.2.3', '203.0.113.7'],
  ['an address of IPv6', '2001:db8::7', '2001:db8::7'],
  ['text that is not an address is not recorded', 'nobody" or 1=1', peer],
])('[SEC-4] behind a trusted proxy the record has the address of the client: %s', async (_what, header, address) => {
  expect(await recorded(behind, { 'x-forwarded-for': header })).toEqual([address, address]);
});

test('[SEC-4] without a trusted proxy nobody can forge the address in the record', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7', 'x-real-ip': '203.0.113.7' };
  expect(await recorded(open, headers)).toEqual([peer, peer]);
});

test('[SEC-4] a trusted proxy does not change which names the server answers to', async () => {
  const admin = behind.client(await issuer.sign(adminClaims));
  const headers = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'https' };
  expect((await admin.request('GET', '/api/me', { headers })).status).toBe(200);
  expect((await admin.request('GET', '/api/me', { headers: { ...headers, origin: 'https://evil.test' } })).status).toBe(403);
});

test('[SEC-4] the address of a change is part of its chain', async () => {
  const admin = behind.client(await issuer.sign(adminClaims));
  await recorded(behind, { 'x-forwarded-for': '203.0.113.7' });
  expect((await admin.get('/api/audit/verify')).json).toMatchObject({ ok: true });
});
