import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import {
  adminClaims,
  grantBuiltinTools,
  spawnServer,
  startTestServer,
  temporaryDirectory,
  type TestServer,
  userClaims,
} from '../running-server.ts';

let server: TestServer;
let alice: ApiClient;
let bob: ApiClient;
let admin: ApiClient;

beforeAll(async () => {
  server = await startTestServer();
  [alice, bob, admin] = await Promise.all([server.as('alice'), server.as('bob'), server.as('admin')]);
});
afterAll(() => server[Symbol.asyncDispose]());

const withKey = (key: string) => ({ 'idempotency-key': key });

/** How many times a tool was called or refused so far. */
async function recorded(tool: string): Promise<number> {
  return (await admin.get(`/api/calls?tool=${tool}&limit=1000`)).json.calls.length;
}

describe('[EXEC-9] an Idempotency-Key', () => {
  test('repeats the first answer byte for byte, and the tool runs once', async () => {
    const before = await recorded('builtin:uuid');
    const first = await alice.call('builtin:uuid', { count: 2 }, {}, withKey('once'));
    const second = await alice.call('builtin:uuid', { count: 2 }, {}, withKey('once'));
    expect(first.json.success).toBe(true);
    expect(second.text).toBe(first.text);
    expect([first.headers.get('idempotency-replayed'), second.headers.get('idempotency-replayed')]).toEqual([null, 'true']);
    expect(await recorded('builtin:uuid')).toBe(before + 1);
  });

  test('runs the tool once when it is sent many times at once', async () => {
    const before = await recorded('builtin:wait');
    const calls = Array.from({ length: 20 }, () => alice.call('builtin:wait', { seconds: 0.2 }, {}, withKey('at-once')));
    const texts = new Set((await Promise.all(calls)).map(({ text }) => text));
    expect(texts.size).toBe(1);
    expect([...texts][0]).toContain('"waited_seconds":0.2');
    expect(await recorded('builtin:wait')).toBe(before + 1);
  });

  test('belongs to one request: other arguments or another tool are a conflict', async () => {
    const first = await alice.call('builtin:hash', { text: 'a', algorithm: 'sha1' }, {}, withKey('one-request'));
    for (const [tool, args] of [
      ['builtin:hash', { text: 'b', algorithm: 'sha1' }],
      ['builtin:hash', { text: 'a' }],
      ['builtin:uuid', {}],
    ] as const) {
      const other = await alice.call(tool, args, {}, withKey('one-request'));
      expect(other).toMatchObject({ status: 409, json: { code: 'CONFLICT', field: 'Idempotency-Key' } });
    }
    // The same arguments in another order, and the tool by another name, are the same request.
    const same = await alice.call('builtin.hash', { algorithm: 'sha1', text: 'a' }, {}, withKey('one-request'));
    expect(same.text).toBe(first.text);
  });

  test('is separate for each user', async () => {
    const [ofAlice, ofBob] = await Promise.all([alice, bob].map((user) => user.call('builtin:uuid', {}, {}, withKey('shared'))));
    expect(ofAlice?.json.result).not.toEqual(ofBob?.json.result);
    expect((await bob.call('builtin:hash', { text: 'x' }, {}, withKey('one-request'))).status).toBe(200);
  });

  test('repeats a failure too, but not a refusal', async () => {
    const failed = await alice.call('builtin:calculator', { expression: '1 / 0' }, {}, withKey('failure'));
    expect(failed.json.success).toBe(false);
    expect((await alice.call('builtin:calculator', { expression: '1 / 0' }, {}, withKey('failure'))).text).toBe(failed.text);
    expect((await alice.call('builtin:calculator', {}, {}, withKey('refused'))).status).toBe(400);
    expect((await alice.call('builtin:calculator', { expression: '1' }, {}, withKey('refused'))).status).toBe(200);
  });

  test('gives a background call one address', async () => {
    const first = await alice.call('builtin:wait', { seconds: 300 }, { async: true }, withKey('address'));
    const second = await alice.call('builtin:wait', { seconds: 300 }, { async: true }, withKey('address'));
    expect([second.status, second.text]).toEqual([202, first.text]);
    await alice.delete(first.json.location);
    const third = await alice.call('builtin:wait', { seconds: 300 }, {}, withKey('address'));
    expect(third.json).toMatchObject({ call_id: first.json.call_id, status: 'cancelled' });
    const fourth = await alice.call('builtin:wait', { seconds: 300 }, { async: true }, withKey('address'));
    expect(fourth.json).toMatchObject({ call_id: first.json.call_id, status: 'cancelled' });
  });

  test('[POL-5] does not repeat the answer of a tool that the user has lost since', async () => {
    await alice.call('builtin:uuid', {}, {}, withKey('taken-away'));
    await admin.patch('/api/tools/builtin:uuid', { hidden: true });
    expect((await alice.call('builtin:uuid', {}, {}, withKey('taken-away'))).status).toBe(404);
    await admin.patch('/api/tools/builtin:uuid', { hidden: false });
  });
});

test('[EXEC-9] the first answer is repeated after a restart', async () => {
  await using issuer = await startTokenIssuer();
  await using data = await temporaryDirectory();
  const token = await issuer.sign(userClaims);
  let first: string;
  {
    await using before = await startTestServer({ dataDir: data.path, issuers: [issuer.config] });
    await grantBuiltinTools(before.client(await issuer.sign(adminClaims)));
    first = (await before.client(token).call('builtin:uuid', {}, {}, withKey('restart'))).text;
    expect(first).toContain('"success":true');
  }
  await using after = await startTestServer({ dataDir: data.path, issuers: [issuer.config] });
  expect((await after.client(token).call('builtin:uuid', {}, {}, withKey('restart'))).text).toBe(first);
});

test('[EXEC-9] [SEC-4] a call whose server was killed is unknown: in its answer, when repeated, and in the record', async () => {
  await using issuer = await startTokenIssuer();
  await using data = await temporaryDirectory();
  const place = ['--data', data.path, '--issuer', issuer.issuer];
  const token = await issuer.sign(userClaims);
  const adminToken = await issuer.sign(adminClaims);
  let callId: string;
  {
    await using killed = await spawnServer(place);
    await grantBuiltinTools(killed.client(adminToken));
    const { status, json } = await killed.client(token).call('builtin:wait', { seconds: 300 }, { async: true }, withKey('killed'));
    expect(status).toBe(202);
    callId = json.call_id;
  }
  await using after = await spawnServer(place);
  const user = after.client(token);
  const state = (await user.get(`/api/bff/calls/${callId}`)).json;
  expect(state).toMatchObject({ status: 'unknown', answer: { status: 'unknown', success: false, error: { code: 'SERVICE_UNAVAILABLE' } } });
  const repeated = await user.call('builtin:wait', { seconds: 300 }, {}, withKey('killed'));
  expect(repeated.json).toEqual(state.answer);
  const record = await after.client(adminToken).get(`/api/calls/${callId}`);
  expect(record.json).toMatchObject({ tool: 'builtin:wait', subject: 'user-1', issuer: issuer.issuer, status: 'unknown' });
});

describe('[EXEC-9] an answer that the database did not accept', () => {
  /** The database itself refuses to keep answers, for as long as `work` lasts; the record is written all the same. */
  async function withoutAnswers<Result>(dataDir: string, work: () => Promise<Result>): Promise<Result> {
    using database = new DatabaseSync(join(dataDir, 'toolcrib.db'), { timeout: 10_000 });
    database.exec(`create trigger full before update on answers begin select raise(abort, 'no room for answers'); end`);
    try {
      return await work();
    } finally {
      database.exec('drop trigger full');
    }
  }

  test('is given anyway and kept as soon as possible, and the tool runs once', async () => {
    const before = await recorded('builtin:uuid');
    const first = await withoutAnswers(server.dataDir, () => alice.call('builtin:uuid', {}, {}, withKey('no-room')));
    expect(first).toMatchObject({ status: 200, json: { success: true } });
    const second = await alice.call('builtin:uuid', {}, {}, withKey('no-room'));
    expect([second.text, second.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect(await recorded('builtin:uuid')).toBe(before + 1);
  });

  test('is rebuilt from the record if it is lost: the key says how the call ended, and does not repeat it', async () => {
    await using issuer = await startTokenIssuer();
    await using data = await temporaryDirectory();
    const config = { dataDir: data.path, issuers: [issuer.config] };
    const [user, administrator] = await Promise.all([issuer.sign(userClaims), issuer.sign(adminClaims)]);
    const first = await startTestServer(config);
    await grantBuiltinTools(first.client(administrator));
    const ended = await withoutAnswers(data.path, async () => {
      const calls = [
        await first.client(user).call('builtin:uuid', {}, {}, withKey('lost')),
        await first.client(user).call('builtin:calculator', { expression: '1 / 0' }, {}, withKey('lost-failure')),
      ];
      await first[Symbol.asyncDispose]();
      return calls;
    });
    expect(ended.map(({ json }) => json.status)).toEqual(['completed', 'failed']);
    await using second = await startTestServer(config);
    const repeated = await second.client(user).call('builtin:uuid', {}, {}, withKey('lost'));
    expect(repeated.json).toMatchObject({ call_id: ended[0]?.json.call_id, success: true, status: 'completed', result: null });
    expect(repeated.json).toMatchObject({ text: expect.stringContaining('could not be kept'), metadata: { content_kept: false } });
    const failed = await second.client(user).call('builtin:calculator', { expression: '1 / 0' }, {}, withKey('lost-failure'));
    expect(failed.json).toMatchObject({ call_id: ended[1]?.json.call_id, success: false, status: 'failed', error: { retryable: false } });
    const { calls } = (await second.client(administrator).get('/api/calls?limit=100')).json;
    expect(calls).toHaveLength(2);
  });
});
