import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { fixture, fixtureRules, grantEverything } from '../fixtures/open-server.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import {
  adminClaims,
  startTestServer,
  temporaryDirectory,
  type TemporaryDirectory,
  type TestServer,
  userClaims,
} from '../running-server.ts';

const quota = 1_000_000;
const canary = 'the-salary-of-alice';

let data: TemporaryDirectory;
let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
let server: TestServer;
let tokens: { admin: string; alice: string; bob: string };
const user = (token: string): ApiClient => server.client(token);
const start = () =>
  startTestServer({ dataDir: data.path, issuers: [issuer.config], artifactBytes: quota, responseBytes: 200_000, runRules: fixtureRules });

beforeAll(async () => {
  data = await temporaryDirectory();
  issuer = await startTokenIssuer();
  const [admin, alice, bob] = await Promise.all(
    [adminClaims, userClaims, { ...userClaims, sub: 'bob' }].map((claims) => issuer.sign(claims)),
  );
  tokens = { admin: admin!, alice: alice!, bob: bob! };
  server = await start();
  await grantEverything(user(tokens.admin));
  const form = { name: 'One', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' };
  await user(tokens.admin).post('/api/sources?wait=60000', form);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  await data[Symbol.asyncDispose]();
});

/** A tool's answer of so many bytes that holds something nobody else should read. */
const give = (bytes: number) => ({ result: { content: [{ type: 'text', text: `${canary} ${'x'.repeat(bytes)}` }] } });
const callWithKey = (key: string, bytes: number) => user(tokens.alice).call('one:give', give(bytes), {}, { 'idempotency-key': key });

function withDatabase<Result>(work: (database: DatabaseSync) => Result): Result {
  using database = new DatabaseSync(join(data.path, 'toolcrib.db'), { timeout: 10_000 });
  return work(database);
}

const keptBytes = () =>
  withDatabase((database) => {
    const asked = `select (select coalesce(sum(length(body)), 0) from answers) + (select coalesce(sum(length(data)), 0) from artifacts) as total`;
    return Number(database.prepare(asked).get()?.['total']);
  });

/** Everything that lies in the data folder. */
function stored(): string {
  const files = readdirSync(data.path, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join('\n');
}

describe('[EXEC-9] [EXEC-7] the storage kept for one user', () => {
  test('is limited however many keys they use: the oldest answers lose their content, and their keys still work', async () => {
    const first = await callWithKey('flood-0', 100_000);
    for (let n = 1; n < 30; n++) expect((await callWithKey(`flood-${n}`, 100_000)).json.success).toBe(true);
    expect(keptBytes()).toBeLessThanOrEqual(quota + quota / 64);
    const before = (await user(tokens.admin).get('/api/calls?tool=one:give&limit=1000')).json.calls.length;
    const oldest = await callWithKey('flood-0', 100_000);
    expect(oldest.json).toMatchObject({
      call_id: first.json.call_id,
      success: true,
      status: 'completed',
      metadata: { content_kept: false },
    });
    expect(oldest.json.text).not.toContain(canary);
    const newest = await callWithKey('flood-29', 100_000);
    expect([newest.json.text.startsWith(canary), newest.headers.get('idempotency-replayed')]).toEqual([true, 'true']);
    expect((await user(tokens.admin).get('/api/calls?tool=one:give&limit=1000')).json.calls).toHaveLength(before);
  });

  test('is one limit for answers and artifacts', async () => {
    for (let n = 0; n < 6; n++) {
      await callWithKey(`both-${n}`, 100_000);
      expect((await user(tokens.alice).call('one:give', give(300_000))).json.metadata.truncated).toBe(true);
    }
    expect(keptBytes()).toBeLessThanOrEqual(quota + quota / 64);
  });
});

describe('[SEC-3] kept answers and artifacts', () => {
  test('are unreadable on disk', async () => {
    const { json } = await callWithKey('sealed', 1000);
    const cut = (await user(tokens.alice).call('one:give', give(300_000))).json;
    expect((await user(tokens.alice).get(`/api/bff/calls/${json.call_id}`)).json.answer.text).toContain(canary);
    expect((await user(tokens.alice).get(cut.metadata.artifacts[0].url)).text).toContain(canary);
    const text = stored();
    expect(text).toContain(json.call_id);
    for (const form of [canary, Buffer.from(canary).toString('base64').slice(0, 20)]) expect(text.includes(form)).toBe(false);
  });

  test('do not open for another user, whatever the database says', async () => {
    const { json } = await callWithKey('moved', 1000);
    const cut = (await user(tokens.alice).call('one:give', give(300_000))).json;
    withDatabase((database) => {
      const bob = `${issuer.issuer} bob`;
      database.prepare('update answers set owner = ? where call_id = ?').run(bob, json.call_id);
      database.prepare('update artifacts set owner = ? where call_id = ?').run(bob, cut.call_id);
    });
    const state = await user(tokens.bob).get(`/api/bff/calls/${json.call_id}`);
    expect([state.status, state.text.includes(canary)]).toEqual([200, false]);
    expect((await user(tokens.bob).get(cut.metadata.artifacts[0].url)).status).toBe(404);
  });

  test('of a version that did not seal them are sealed by the next start, and read as before', async () => {
    const { json } = await callWithKey('earlier', 1000);
    const cut = (await user(tokens.alice).call('one:give', give(300_000))).json;
    await server[Symbol.asyncDispose]();
    withDatabase((database) => {
      database.prepare('update answers set body = ?, bytes = -1 where call_id = ?').run(JSON.stringify(json), json.call_id);
      const artifact = database.prepare('update artifacts set data = ?, sealed = 0 where call_id = ?');
      artifact.run(Buffer.from(`${canary}, as it was`), cut.call_id);
    });
    server = await start();
    expect((await callWithKey('earlier', 1000)).json).toEqual(json);
    expect((await user(tokens.alice).get(cut.metadata.artifacts[0].url)).text).toBe(`${canary}, as it was`);
    const kept = withDatabase((database) => [
      database.prepare('select body as kept from answers where call_id = ?').get(json.call_id),
      database.prepare('select cast(data as text) as kept from artifacts where call_id = ?').get(cut.call_id),
    ]);
    for (const row of kept) expect(String(row?.['kept'])).not.toContain(canary);
  });
});
