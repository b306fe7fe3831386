import { describe, expect, test } from 'vitest';
import { staleAfterMs } from '../../src/execution/acceptance.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { cuttableProxy } from '../fixtures/cuttable-proxy.ts';
import { startLedgerUpstream } from '../fixtures/ledger-upstream.ts';
import { grantEverything, startOpenServer } from '../fixtures/open-server.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { adminClaims, startTestServer, until, untilSeen, userClaims } from '../running-server.ts';

const postgres = part('postgres');

describe.skipIf(!postgres.available)('a server that is cut off from the others', () => {
  test('[POL-5] executes nothing once it may have missed a revoked policy, and catches up by itself', async () => {
    await using database = await freshPostgresDatabase();
    await using proxy = await cuttableProxy(database.url);
    await using issuer = await startTokenIssuer();
    await using upstream = await startLedgerUpstream();
    const config = { issuers: [issuer.config], allowedNetworks: ['loopback'] };
    await using there = await startTestServer({ ...config, databaseUrl: database.url });
    await using here = await startTestServer({ ...config, databaseUrl: proxy.url });
    const admin = there.client(await issuer.sign(adminClaims));
    const user = here.client(await issuer.sign(userClaims));
    await admin.post('/api/sources?wait=60000', { name: 'Ledger', mcp_server_url: upstream.url });
    await grantEverything(admin);
    await until(async () => (await user.call('ledger:note', { mark: 'before' })).status === 200);

    const silentSince = performance.now();
    proxy.cut();
    expect((await admin.delete('/api/policies/everybody')).status).toBe(204);
    const refused = await until(async () => {
      const reply = await user.call('ledger:note', { mark: 'within the bound' }, { timeout_ms: 1 });
      return reply.status === 503 && performance.now() > silentSince + staleAfterMs && reply;
    });
    expect(refused.json).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(refused.json.message).toContain('Changes made on other servers cannot be seen');
    expect(refused.headers.get('retry-after')).toBe('1');
    const beyond = { mark: 'beyond' };
    expect((await user.call('ledger:note', beyond)).status).toBe(503);
    expect((await user.call('ledger:note', beyond, { async: true })).status).toBe(503);
    expect((await user.call('ledger:note', beyond, {}, { 'idempotency-key': 'k' })).status).toBe(503);
    expect(await here.client().get('/readyz')).toMatchObject({ status: 503, json: { code: 'SERVICE_UNAVAILABLE' } });

    proxy.mend();
    await until(async () => (await user.call('ledger:note', beyond)).status === 404);
    expect(upstream.executed.has('beyond')).toBe(false);
  });
});

test('[POL-5] a call that waited for its turn is not executed if its permission was revoked meanwhile', async () => {
  await using upstream = await startLedgerUpstream();
  await using server = await startOpenServer();
  const { admin, alice } = server;
  await admin.post('/api/sources?wait=60000', { name: 'Ledger', mcp_server_url: upstream.url, limits: { concurrency: 1, queue: 9 } });
  const matchers = [{ path: 'realm_access.roles', operator: 'contains', value: 'toolcrib-admin' }];
  await admin.post('/api/policies', { name: 'Administrators', matchers, groups: ['everything'] });
  const begin = async (user: ApiClient, tool: string, mark: string) => (await user.call(tool, { mark }, { async: true })).json;
  const running = await begin(alice, 'ledger:hold', 'first');
  await untilSeen(() => upstream.executed.has('first'));
  const withdrawn = await begin(alice, 'ledger:note', 'withdrawn');
  const kept = await begin(admin, 'ledger:note', 'kept');
  expect([withdrawn.status, kept.status]).toEqual(['queued', 'queued']);
  await admin.delete('/api/policies/everybody');
  upstream.release();
  const answerOf = (user: ApiClient, { location }: { location: string }) =>
    until(async () => (await user.get(location)).json.answer ?? undefined);
  expect(await answerOf(alice, running)).toMatchObject({ success: true });
  expect(await answerOf(alice, withdrawn)).toMatchObject({ success: false, status: 'failed', error: { code: 'NOT_FOUND' } });
  expect(await answerOf(admin, kept)).toMatchObject({ success: true });
  expect([...upstream.executed]).toEqual([
    ['first', 1],
    ['kept', 1],
  ]);
  expect((await admin.get(`/api/calls/${withdrawn.call_id}`)).json).toMatchObject({ status: 'failed', error_code: 'NOT_FOUND' });
});
