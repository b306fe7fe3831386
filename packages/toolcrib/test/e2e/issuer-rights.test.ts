import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { fixture } from '../fixtures/open-server.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { adminClaims, administering, startServerWithIssuer, startTestServer, temporaryDirectory } from '../running-server.ts';

type Issuer = Awaited<ReturnType<typeof startTokenIssuer>>;

/** Everything an administrator of the staff's issuer has, written by the partners' issuer into a token of its own. */
let staff: Awaited<ReturnType<typeof startServerWithIssuer>>;
let partner: Issuer;
/** Says for itself who administers, by another claim, and lets nobody run anything. */
let branch: Issuer;
let forged: ApiClient;

beforeAll(async () => {
  partner = await startTokenIssuer();
  branch = await startTokenIssuer();
  staff = await startServerWithIssuer({ issuers: [partner.config, { ...branch.config, admin_claim: 'groups=/heads' }] });
  forged = staff.server.client(await partner.sign(adminClaims));
});
afterAll(async () => {
  await staff[Symbol.asyncDispose]();
  await partner[Symbol.asyncDispose]();
  await branch[Symbol.asyncDispose]();
});

const rights = async (client: ApiClient) => {
  const { administrator, may_run } = (await client.get('/api/me')).json;
  return { administrator, may_run };
};

test('[BFF-6] [SEC-2] administrator roles in a token of another issuer grant nothing', async () => {
  expect(await rights(forged)).toEqual({ administrator: false, may_run: false });
  for (const path of ['/api/policies', '/api/sources', '/api/calls', '/api/secrets'])
    expect([path, (await forged.get(path)).status]).toEqual([path, 403]);
  expect((await forged.post('/api/policies', { name: 'Mine', groups: [] })).status).toBe(403);
  expect((await forged.post('/api/sources', { name: 'Mine', mcp_command: fixture('plain') })).status).toBe(403);
  expect((await forged.post('/api/sources/preview?discover=true', { name: 'Mine', mcp_command: fixture('plain') })).status).toBe(403);
});

test('[BFF-6] [SEC-2] each issuer has its own claims for administering and running', async () => {
  expect(await rights(await staff.signedIn(adminClaims))).toEqual({ administrator: true, may_run: true });
  expect(await rights(staff.server.client(await branch.sign(adminClaims)))).toEqual({ administrator: false, may_run: false });
  const head = staff.server.client(await branch.sign({ ...adminClaims, groups: ['/heads'] }));
  expect(await rights(head)).toEqual({ administrator: true, may_run: false });
  const refused = await head.post('/api/sources', { name: 'Mine', mcp_command: fixture('plain') });
  expect([refused.status, refused.json.message]).toEqual([403, expect.stringContaining(`no token from ${branch.issuer} grants it`)]);
});

test('[POL-3] an explanation of claims is the same as of a token of that issuer', async () => {
  const admin = await staff.signedIn(adminClaims);
  const explained = async (body: object) => (await admin.post('/api/policies/explain', body)).json.administrator;
  expect(await explained({ token: await partner.sign(adminClaims) })).toBe(false);
  expect(await explained({ claims: { ...adminClaims, iss: partner.issuer } })).toBe(false);
  expect(await explained({ claims: { ...adminClaims, iss: staff.issuer.issuer } })).toBe(true);
  // Nobody knows whose they would be.
  expect(await explained({ claims: adminClaims })).toBe(false);
});

test('[BFF-6] a server does not start with several issuers of which none says who administers', async () => {
  await using data = await temporaryDirectory();
  const start = () => startTestServer({ dataDir: data.path, issuers: [staff.issuer.config, partner.config] });
  await expect(start()).rejects.toThrow(/none names its administrators: write admin_claim/);
});

test('[BFF-6] a single issuer follows the options unless it has settings of its own', async () => {
  const adminMatcher = { path: 'groups', operator: 'contains', value: '/heads' } as const;
  const alone = await startTestServer({ issuers: [branch.config], adminMatcher });
  await using _alone = alone;
  expect(await rights(alone.client(await branch.sign({ groups: ['/heads'] })))).toEqual({ administrator: true, may_run: false });
  const saying = await startTestServer({ issuers: [{ ...branch.config, ...administering }], adminMatcher });
  await using _saying = saying;
  expect(await rights(saying.client(await branch.sign({ groups: ['/heads'] })))).toEqual({ administrator: false, may_run: false });
  expect(await rights(saying.client(await branch.sign(adminClaims)))).toEqual({ administrator: true, may_run: true });
});
