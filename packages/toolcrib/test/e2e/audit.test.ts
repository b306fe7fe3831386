import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditVerdictSchema, refusalListSchema } from '../../src/api.ts';
import type { ApiClient, Reply } from '../fixtures/api-client.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import {
  adminClaims,
  devToken,
  grantBuiltinTools,
  spawnServer,
  startServerWithIssuer,
  startTestServer,
  temporaryDirectory,
  type TestServer,
  until,
  userClaims,
} from '../running-server.ts';

const postgres = part('postgres');

/** How many rows each ledger has. */
async function counts(admin: ApiClient): Promise<Record<string, number>> {
  const { ok, ledgers } = auditVerdictSchema.parse((await admin.get('/api/audit/verify')).json);
  expect(ok).toBe(true);
  return Object.fromEntries(ledgers.map(({ ledger, rows }) => [ledger, rows]));
}

const linesOf = ({ text }: Reply) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('[SEC-4] the record', () => {
  let started: Awaited<ReturnType<typeof startServerWithIssuer>>;
  let admin: ApiClient;
  let user: ApiClient;
  beforeAll(async () => {
    started = await startServerWithIssuer();
    [admin, user] = await Promise.all([started.signedIn(adminClaims), started.signedIn(userClaims)]);
  });
  afterAll(() => started[Symbol.asyncDispose]());

  const client = (token?: string) => started.server.client(token);
  const expired = async () => client(await started.issuer.sign({ ...userClaims, exp: 1000 }));
  const outcomes: [what: string, ledger: 'calls' | 'changes' | 'refusals' | 'none', ask: () => Promise<unknown>][] = [
    ['a call that completes', 'calls', () => user.call('builtin:uuid')],
    ['a call whose tool fails', 'calls', () => user.call('builtin:calculator', { expression: '1 / 0' })],
    ['a call with arguments that do not fit', 'calls', () => user.call('builtin:uuid', { count: 'many' })],
    ['a call that runs out of time', 'calls', () => user.call('builtin:wait', { seconds: 60 }, { timeout_ms: 5 })],
    ['a call of an unknown tool', 'calls', () => user.call('no:where')],
    [
      'a call of a tool that is not theirs',
      'calls',
      async () => (await started.signedIn({ sub: 'nobody', realm_access: { roles: [] } })).call('builtin:uuid'),
    ],
    ['a request without a token', 'refusals', () => client().get('/api/bff/tools')],
    ['a call without a token', 'refusals', () => client().call('builtin:uuid')],
    ['a request with a token that is none', 'refusals', () => client('canary.canary.canary').get('/api/bff/tools')],
    ['a call with an expired token', 'refusals', async () => (await expired()).call('builtin:uuid')],
    ['an administrative request without a token', 'refusals', () => client().post('/api/groups', { name: 'x' })],
    ["an administrative request with a user's token", 'refusals', () => user.post('/api/groups', { name: 'x' })],
    ['a change', 'changes', () => admin.post('/api/groups', { id: 'audited', name: 'x' })],
    ['a change that is refused', 'none', () => admin.post('/api/groups', { id: 'audited', name: 'x' })],
    ['a secret that is set', 'changes', () => admin.put('/api/secrets/audited', { value: 'canary-value' })],
    ['a secret that is deleted', 'changes', () => admin.delete('/api/secrets/audited')],
    ['a list', 'none', () => user.get('/api/bff/tools')],
  ];

  test.each(outcomes)('gets exactly one line, where it belongs, or none: %s', async (_what, ledger, ask) => {
    const before = await counts(admin);
    await ask();
    const expected = ledger === 'none' ? before : { ...before, [ledger]: (before[ledger] ?? 0) + 1 };
    expect(await counts(admin)).toEqual(expected);
  });

  test('lists refusals with reason, address and route, and with nothing from an unverified token', async () => {
    const { refusals, next_cursor } = refusalListSchema.parse((await admin.get('/api/refusals?limit=5')).json);
    expect(refusals.map(({ kind, code, method, route }) => [kind, code, method, route])).toEqual([
      ['authorization', 'FORBIDDEN', 'POST', '/api/groups'],
      ['authentication', 'UNAUTHENTICATED', 'POST', '/api/groups'],
      ['authentication', 'UNAUTHENTICATED', 'POST', '/api/bff/tools/call'],
      ['authentication', 'UNAUTHENTICATED', 'GET', '/api/bff/tools'],
      ['authentication', 'UNAUTHENTICATED', 'POST', '/api/bff/tools/call'],
    ]);
    expect(refusals[0]).toMatchObject({ subject: 'user-1', issuer: started.issuer.issuer, address: '127.0.0.1', count: 1 });
    expect(refusals[2]).toMatchObject({ subject: null, issuer: null, client: null, reason: 'The token has expired: get a new one' });
    const rest = (await admin.get(`/api/refusals?limit=5&cursor=${next_cursor}`)).json;
    expect(rest).toMatchObject({ refusals: [{ route: '/api/bff/tools' }], next_cursor: null });
    expect((await admin.get('/api/refusals?kind=authorization')).json.refusals).toHaveLength(1);
  });

  test('is exported by ledger and time, without secrets', async () => {
    const reply = await admin.get('/api/audit');
    expect(reply.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(reply.text).not.toContain('canary');
    const lines = linesOf(reply);
    const { calls, changes, refusals } = await counts(admin);
    const ofEach = Object.groupBy(lines, ({ ledger }) => String(ledger));
    expect([ofEach['calls']?.length, ofEach['changes']?.length, ofEach['refusals']?.length]).toEqual([calls, changes, refusals]);
    expect(ofEach['calls']?.[0]).toMatchObject({ tool: 'builtin:uuid', status: 'completed', chain: expect.any(Number), seq: 1 });
    const [first, second] = ofEach['refusals'] ?? [];
    const one = await admin.get(`/api/audit?ledger=refusals&from=${Number(first?.['at'])}&until=${Number(first?.['at']) + 1}`);
    expect(linesOf(one)).toContainEqual(first);
    expect(linesOf(await admin.get(`/api/audit?ledger=refusals,calls&from=${Number(second?.['at'])}`))).toContainEqual(second);
    expect(linesOf(await admin.get('/api/audit?from=9000000000000'))).toEqual([]);
    expect((await admin.get('/api/audit?ledger=secrets')).json).toMatchObject({ code: 'VALIDATION_ERROR', field: 'ledger' });
    expect((await admin.get('/api/audit/verify?expect=x')).json).toMatchObject({ code: 'VALIDATION_ERROR', field: 'expect' });
  });
});

test('[SEC-4] a row that was changed in the database is named by its place, also after a restart', async () => {
  await using data = await temporaryDirectory();
  let head = '';
  {
    await using server = await startTestServer({ dataDir: data.path });
    const [alice, admin] = await Promise.all([server.as('alice'), server.as('admin')]);
    for (let count = 0; count < 5; count++) await alice.call('builtin:uuid');
    [head = ''] = (await admin.get('/api/audit/verify')).json.ledgers[0].heads;
    expect((await admin.get(`/api/audit/verify?expect=${head}`)).json.ok).toBe(true);
  }
  const edit = (statement: string) => {
    const database = new DatabaseSync(join(data.path, 'toolcrib.db'));
    database.exec(statement);
    database.close();
  };
  edit("update calls set subject = 'somebody else' where seq = 2");
  {
    await using server = await startTestServer({ dataDir: data.path });
    const admin = await server.as('admin');
    const { ok, ledgers } = (await admin.get('/api/audit/verify')).json;
    expect(ok).toBe(false);
    expect(ledgers[0].problems).toEqual([{ chain: expect.any(Number), seq: 2, id: expect.any(String), problem: 'the row was changed' }]);
  }
  edit('delete from calls where seq > 3');
  await using server = await startTestServer({ dataDir: data.path });
  const admin = await server.as('admin');
  const { problems } = (await admin.get(`/api/audit/verify?expect=${head}`)).json.ledgers[0];
  expect(problems.map(({ problem }: { problem: string }) => problem)).toContain('the end was cut off: the rows up to 5 were there');
});

test('[SEC-4] the heads that a server logs when it stops are found by the next start', async () => {
  await using data = await temporaryDirectory();
  const { log } = await (async () => {
    await using server = await spawnServer(['--data', data.path]);
    await server.client(await devToken(server.url, 'alice')).call('builtin:uuid');
    await server.client().get('/api/bff/tools');
    server.child.kill('SIGTERM');
    await server.ended;
    return server;
  })();
  const line = log.find((text) => text.includes('"audit-head"')) ?? '{}';
  const { heads } = JSON.parse(line) as { heads: string[] };
  expect(heads.map((head) => head.split(':')[0])).toEqual(['calls', 'changes', 'refusals']);
  await using server = await startTestServer({ dataDir: data.path });
  const admin = await server.as('admin');
  expect((await admin.get(`/api/audit/verify?expect=${heads.join(',')}`)).json.ok).toBe(true);
});

describe.skipIf(!postgres.available)('two servers on one PostgreSQL', () => {
  test('[SEC-4] [OPS-2] write one record that verifies', async () => {
    await using database = await freshPostgresDatabase();
    await using issuer = await startTokenIssuer();
    const config = { databaseUrl: database.url, issuers: [issuer.config] };
    await using first = await startTestServer(config);
    await using second = await startTestServer(config);
    const [adminToken, userToken] = await Promise.all([issuer.sign(adminClaims), issuer.sign(userClaims)]);
    const both: [TestServer, TestServer] = [first, second];
    await grantBuiltinTools(first.client(adminToken));
    await until(async () => (await second.client(userToken).listedNames()).length > 0);
    await Promise.all(
      both.flatMap((server) =>
        Array.from({ length: 10 }, async (_, index) => {
          await server.client(userToken).call('builtin:uuid');
          await server.client(adminToken).patch('/api/tools/builtin:hash', { labels: { round: String(index) } });
          await server.client('no.token').get('/api/bff/tools');
        }),
      ),
    );
    await first.client(adminToken).get('/api/refusals');
    const rows = await counts(second.client(adminToken));
    expect(rows).toMatchObject({ calls: 20, refusals: 20 });
    expect(rows['changes']).toBeGreaterThanOrEqual(20);
  });
});
