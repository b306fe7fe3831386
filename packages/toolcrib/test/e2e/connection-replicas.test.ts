import { describe, expect, test } from 'vitest';
import { connect } from '../fixtures/connect.ts';
import { startProtectedServer } from '../fixtures/mcp/protected-server.ts';
import { startOAuthServer } from '../fixtures/oauth-server.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { adminClaims, startTestServer, until } from '../running-server.ts';
import { writtenKey } from '../secrets/key-rings.ts';

const postgres = part('postgres');

describe.skipIf(!postgres.available)('[OPS-2] [MCP-12] two servers on one PostgreSQL', () => {
  test('share the connections of users, renew their tokens once, and learn when they end', async () => {
    await using parts = new AsyncDisposableStack();
    const database = parts.use(await freshPostgresDatabase());
    const issuer = parts.use(await startTokenIssuer());
    const oauth = parts.use(await startOAuthServer());
    const wiki = parts.use(await startProtectedServer(oauth));
    const config = { databaseUrl: database.url, issuers: [issuer.config], allowedNetworks: ['loopback'], keys: writtenKey('shared') };
    const [here, there] = await Promise.all([startTestServer(config), startTestServer(config)]);
    parts.use(here);
    parts.use(there);
    const token = await issuer.sign({ ...adminClaims, preferred_username: 'alice' });
    const clients = [here.client(token), there.client(token)] as const;
    const [onFirst, onSecond] = clients;
    await onFirst.post('/api/groups', { id: 'everything', name: 'Everything', selectors: [{ source: '*' }] });
    const matchers = [{ path: 'sub', operator: 'exists' }];
    await onFirst.post('/api/policies', { id: 'everybody', name: 'Everybody', matchers, groups: ['everything'] });
    const body = { name: 'Wiki', mcp_server_url: wiki.url, credential: { type: 'oauth' }, discovery_credential: { type: 'oauth' } };
    await onFirst.post('/api/sources?wait=20000', body);

    await connect(onFirst, { oauth, user: 'alice', source: 'wiki', query: '?for=discovery' });
    for (const client of clients) await until(async () => (await client.get('/api/sources/wiki')).json.status.tools === 3);

    oauth.settings.tokenSeconds = 2;
    await connect(onFirst, { oauth, user: 'alice', source: 'wiki' });
    oauth.settings.tokenSeconds = 3600;
    const begun = oauth.seen.token.length;
    await until(async () => {
      const calls = [onFirst, onSecond, onFirst, onSecond].map(async (client) => (await client.call('wiki:whoami')).json.text);
      expect(new Set(await Promise.all(calls))).toEqual(new Set(['alice']));
      return oauth.seen.token.length > begun;
    });
    // The second server has found the token of the first.
    for (const client of clients) expect((await client.call('wiki:whoami')).json.text).toBe('alice');
    expect(oauth.seen.token.slice(begun).map((form) => form.get('grant_type'))).toEqual(['refresh_token']);

    const [{ owner }] = (await onFirst.get('/api/user-connections')).json.connections;
    expect((await onFirst.delete(`/api/user-connections?owner=${encodeURIComponent(owner)}`)).json).toEqual({ ended: 1 });
    await until(async () => (await onSecond.call('wiki:whoami')).json.error?.code === 'UNAUTHENTICATED');
  }, 360_000);
});
