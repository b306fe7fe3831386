import { describe, expect, test } from 'vitest';
import { connect } from '../fixtures/connect.ts';
import { bookPaths, documentOf, startDocumentService } from '../fixtures/document-service.ts';
import { startOAuthServer } from '../fixtures/oauth-server.ts';
import { grantEverything, startOpenServer } from '../fixtures/open-server.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { adminClaims, startTestServer, until } from '../running-server.ts';

const postgres = part('postgres');

test('[MCP-12] [ID-5] every user calls the service of a document with their own account', async () => {
  await using oauth = await startOAuthServer();
  await using service = await startDocumentService();
  await using server = await startOpenServer();
  const credential = { type: 'oauth', authorization_server: oauth.issuer };
  const body = { name: 'Shelf', source_type: 'openapi', openapi: { url: service.url }, credential };
  const { json: source } = await server.admin.post('/api/sources?wait=20000', body);
  expect(source.status).toEqual({ state: 'running', tools: 4 });

  const { json: refused } = await server.alice.call('shelf:listBooks');
  expect(refused).toMatchObject({
    success: false,
    error: { code: 'UNAUTHENTICATED', origin: 'caller', details: { connect_url: `/api/connections/${source.id}` } },
  });
  expect(service.seen).toEqual([]);

  for (const [client, user] of [
    [server.alice, 'alice'],
    [server.bob, 'bob'],
  ] as const) {
    await connect(client, { oauth, user, source: source.id });
    expect((await client.call('shelf:listBooks')).json).toMatchObject({ success: true });
  }
  const sent = service.seen.map(({ headers }) => headers.authorization);
  expect(sent).toEqual([expect.stringMatching(/^Bearer ./), expect.stringMatching(/^Bearer ./)]);
  expect(new Set(sent).size).toBe(2);

  await server.alice.delete(`/api/connections/${source.id}`);
  expect((await server.alice.call('shelf:listBooks')).json).toMatchObject({ success: false });
  expect((await server.bob.call('shelf:listBooks')).json).toMatchObject({ success: true });
  expect((await server.admin.get('/api/sources/shelf')).json.health).toBe('healthy');
});

describe.skipIf(!postgres.available)('[OPS-2] two servers on one PostgreSQL', () => {
  test('share the tools of one document, which the second need not import', async () => {
    await using database = await freshPostgresDatabase();
    await using issuer = await startTokenIssuer();
    await using service = await startDocumentService();
    const config = { databaseUrl: database.url, issuers: [issuer.config], allowedNetworks: ['loopback'] };
    await using first = await startTestServer(config);
    await using second = await startTestServer(config);
    const token = await issuer.sign(adminClaims);
    const [one, other] = [first.client(token), second.client(token)];
    await grantEverything(one);
    await one.post('/api/sources?wait=20000', { name: 'Shelf', source_type: 'openapi', openapi: { url: service.url } });
    const statusOn = async (client: typeof one) => (await client.get('/api/sources/shelf')).json?.status;
    await until(async () => (await statusOn(other))?.state === 'running' && (await other.listedNames()).includes('shelf:listBooks'));
    expect((await other.call('shelf:listBooks')).json).toMatchObject({ success: true });
    service.describe(documentOf({ '/books': bookPaths['/books'] ?? {} }));
    await one.post('/api/sources/shelf/refresh', undefined);
    await until(async () => !(await other.listedNames()).includes('shelf:getBook'));
  });
});
