import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { callKinds, createCallLedger, disagreements, unrecordedExecutions } from '../fixtures/call-ledger.ts';
import { killableServers } from '../fixtures/killable-servers.ts';
import { startLedgerUpstream, type LedgerUpstream } from '../fixtures/ledger-upstream.ts';
import { smallDisk } from '../fixtures/small-disk.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { until, type ServerProcess } from '../running-server.ts';

const servers = killableServers();
/** Room enough for what the tests write themselves. */
const diskBytes = 32 * 2 ** 20;

const disk = await smallDisk(diskBytes);
const isRequired = process.env.TOOLCRIB_REQUIRE_PARTS === '1';

test.skipIf(disk !== undefined || !isRequired)('a disk can be mounted: run the tests as root, on Linux', () => {
  expect(disk).toBeDefined();
});

describe.skipIf(disk === undefined)('a server with a full disk', () => {
  const small = disk as NonNullable<typeof disk>;
  let upstream: LedgerUpstream;
  let running: ServerProcess;
  let admin: ApiClient;
  let user: ApiClient;
  beforeAll(async () => {
    upstream = await startLedgerUpstream();
    running = await servers.open('--data', small.path, '--principal-rate', '0', '--principal-concurrency', '0');
    ({ admin, user } = await servers.signedIn(running));
    await admin.post('/api/sources?wait=60000', { name: 'Ledger', mcp_server_url: upstream.url });
    await grantEverything(admin);
  });
  afterAll(async () => {
    await running?.[Symbol.asyncDispose]();
    await upstream?.[Symbol.asyncDispose]();
    await small[Symbol.asyncDispose]();
  });

  test('[SEC-4] [BFF-7] executes nothing, says why, and needs nothing but room to go on', async () => {
    const answers = new Map<string, { status: number; json: { status?: string; call_id?: string; message?: string } }>();
    const call = async (mark: string) => {
      const reply = await user.call('ledger:note', { mark }, { timeout_ms: 100 });
      answers.set(mark, reply);
      return reply;
    };
    expect((await call('before')).json.status).toBe('completed');

    await using full = await small.fill();
    // What is written first may still fit into a page that is there.
    const refused = await until(async () => {
      const reply = await call(`full ${answers.size}`);
      return reply.status === 503 && reply;
    });
    expect(refused.json.message).toBe('The disk is full: make room where the database is. Try again shortly.');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await running.client().get('/readyz')).toMatchObject({
      status: 503,
      json: { code: 'SERVICE_UNAVAILABLE', message: 'The disk is full: make room where the database is.' },
    });
    expect(await admin.post('/api/groups', { id: 'later', name: 'Later' })).toMatchObject({ status: 503 });
    expect(running.log.join('\n')).toMatch(/no space left on device|database or disk is full/);
    expect(running.log.join('\n')).not.toContain('cannot rollback');

    await full[Symbol.asyncDispose]();
    await until(async () => (await running.client().get('/readyz')).status === 200);
    expect((await call('after')).json.status).toBe('completed');
    expect((await admin.post('/api/groups', { id: 'later', name: 'Later' })).status).toBe(201);
    // What was executed is recorded as it went, whatever its caller could be told; what was refused was not executed.
    for (const [mark, { status, json }] of answers) {
      const recorded = status === 503 ? 'nothing' : (await admin.get(`/api/calls/${json.call_id}`)).json.status;
      expect([mark, upstream.executed.get(mark) ?? 0, recorded]).toEqual(status === 503 ? [mark, 0, 'nothing'] : [mark, 1, 'completed']);
    }
    expect((await admin.get('/api/audit/verify')).json).toMatchObject({ ok: true });
  });

  test('[SEC-4] [EXEC-9] agrees with an outside ledger on what was answered and recorded, for calls of every kind', async () => {
    const ledger = createCallLedger(user);
    await ledger.succeeded(20);
    for (let times = 0; times < 3; times++) {
      await using full = await small.fill();
      for (const kind of callKinds) await ledger.refused(kind, 3);
      await full[Symbol.asyncDispose]();
      await ledger.succeeded(20);
    }
    await ledger.stop();
    const books = { ledger, upstream, admin };
    expect(await disagreements(books)).toEqual([]);
    expect(await unrecordedExecutions(books)).toBe(0);
    // Refused or not confirmed: sent again with its key, each is executed once after all, and its caller told so.
    await ledger.askAgain();
    expect(await disagreements(books)).toEqual([]);
    expect(ledger.asked.filter(({ kind, told }) => kind === 'keyed' && told !== 'completed')).toEqual([]);
    expect((await admin.get('/api/audit/verify')).json).toMatchObject({ ok: true });
  });
});
