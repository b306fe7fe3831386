import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { createCallLedger, disagreements, unrecordedExecutions } from '../fixtures/call-ledger.ts';
import { cuttableProxy } from '../fixtures/cuttable-proxy.ts';
import { killableServers } from '../fixtures/killable-servers.ts';
import { startLedgerUpstream, type LedgerUpstream } from '../fixtures/ledger-upstream.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { privatePostgres } from '../fixtures/private-postgres.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { temporaryDirectory, until, untilSeen, type ServerProcess } from '../running-server.ts';

const postgres = part('postgres');
const servers = killableServers();
const unlimited = ['--principal-rate', '0', '--principal-concurrency', '0'];
/** `TOOLCRIB_LEDGER_OUTAGE_MS=15000` for longer outages than the suite has time for. */
const outageMs = Number(process.env.TOOLCRIB_LEDGER_OUTAGE_MS ?? 2000);

let upstream: LedgerUpstream;
beforeAll(async () => {
  upstream = await startLedgerUpstream();
});
afterAll(() => upstream[Symbol.asyncDispose]());

async function furnish(server: ServerProcess) {
  const people = await servers.signedIn(server);
  await people.admin.post('/api/sources?wait=60000', { name: 'Ledger', mcp_server_url: upstream.url });
  await grantEverything(people.admin);
  await until(async () => (await people.user.call('ledger:note', { mark: 'ready' })).status === 200);
  return people;
}

describe.skipIf(!postgres.available)('an outside ledger agrees with the answers and the record', () => {
  let database: Awaited<ReturnType<typeof privatePostgres>>;
  let proxy: Awaited<ReturnType<typeof cuttableProxy>>;
  let server: ServerProcess;
  let people: Awaited<ReturnType<typeof furnish>>;
  let data: Awaited<ReturnType<typeof temporaryDirectory>>;
  beforeAll(async () => {
    database = await privatePostgres();
    proxy = await cuttableProxy(database.url);
    data = await temporaryDirectory();
    server = await servers.open('--data', data.path, '--database', proxy.url, ...unlimited);
    people = await furnish(server);
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await proxy?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
    await data?.[Symbol.asyncDispose]();
  });

  async function terminateConnections(): Promise<void> {
    await using client = Object.assign(new Client(database.url), { [Symbol.asyncDispose]: () => client.end() });
    await client.connect();
    await client.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'toolcrib%'");
  }

  const troubles: [string, () => Promise<void>][] = [
    [
      'when connections are terminated',
      async () => {
        for (let times = 0; times < 3; times++) await terminateConnections();
      },
    ],
    [
      'when PostgreSQL is restarted',
      async () => {
        await database.stop();
        await database.start();
      },
    ],
    [
      'when PostgreSQL is stopped for a while',
      async () => {
        await database.stop();
        await delay(outageMs);
        await database.start();
      },
    ],
    [
      'when PostgreSQL takes everything and says nothing',
      async () => {
        proxy.silence();
        await delay(outageMs);
        proxy.mend();
      },
    ],
  ];

  test.each(troubles)('[SEC-4] %s', async (_when, trouble) => {
    const ledger = createCallLedger(people.user);
    await ledger.succeeded(30);
    await trouble();
    await ledger.succeeded(30);
    await ledger.stop();
    await until(async () => (await server.client().get('/readyz')).status === 200, 50_000);
    expect(await disagreements({ ledger, upstream, admin: people.admin })).toEqual([]);
    expect(await unrecordedExecutions({ ledger, upstream, admin: people.admin })).toBe(0);
    expect((await people.admin.get('/api/audit/verify')).json).toMatchObject({ ok: true });
  });
});

test('[SEC-4] a killed server has recorded what it acknowledged, and leaves a trace of running calls', async () => {
  await using data = await temporaryDirectory();
  const args = ['--data', data.path, ...unlimited];
  const held: string[] = [];
  const ledger = await (async () => {
    await using server = await servers.open(...args);
    const { user, admin } = await furnish(server);
    for (const mark of ['held-1', 'held-2']) {
      user.call('ledger:hold', { mark }).catch(() => undefined);
      await untilSeen(() => upstream.executed.has(mark));
    }
    held.push(
      ...(await until(async () => {
        const { calls } = (await admin.get('/api/calls?status=running')).json;
        return calls.length === 2 && calls.map(({ call_id }: { call_id: string }) => call_id);
      })),
    );
    const asking = createCallLedger(user);
    await asking.succeeded(50);
    server.child.kill('SIGKILL');
    await server.ended;
    return asking;
  })();
  await using server = await servers.open(...args);
  const { user, admin } = await servers.signedIn(server);
  await ledger.stop(user);
  expect(await disagreements({ ledger, upstream, admin, killed: true })).toEqual([]);
  for (const callId of held) {
    expect((await admin.get(`/api/calls/${callId}`)).json).toMatchObject({ status: 'unknown', tool: 'ledger:hold', subject: 'user-1' });
  }
  expect((await admin.get('/api/calls?status=running')).json.calls).toEqual([]);
  expect((await admin.get('/api/audit/verify')).json).toMatchObject({ ok: true });
});

describe.skipIf(!postgres.available)('of several servers on one PostgreSQL', () => {
  test('[SEC-4] [OPS-2] a killed one has recorded what it acknowledged, leaves a trace, and nothing is executed twice', async () => {
    await using database = await freshPostgresDatabase();
    await using folders = await temporaryDirectory();
    await using opened = new AsyncDisposableStack();
    const open = async (name: string) =>
      opened.use(await servers.open('--data', join(folders.path, name), '--database', database.url, ...unlimited));
    const running = [await open('0'), ...(await Promise.all([open('1'), open('2')]))];
    const { admin } = await furnish(running[0] as ServerProcess);
    const users = await Promise.all(running.map(async (server) => (await servers.signedIn(server)).user));
    for (const user of users) await until(async () => (await user.call('ledger:note', { mark: 'ready' })).status === 200);
    let turn = 0;
    const anyone = () => users[turn++ % users.length] as ApiClient;
    const anywhere = {
      call: (...said: Parameters<ApiClient['call']>) => anyone().call(...said),
      get: (path: string) => anyone().get(path),
    };
    // Calls of a killed server are over for the others when their time is.
    const ledger = createCallLedger(anywhere, { callers: 4, timeoutMs: 2000 });

    /** Kills it under load and while it waits for a tool, and starts it again on its data. */
    async function killAndRestart(which: number, mark: string): Promise<void> {
      const server = running[which] as ServerProcess;
      const waiting = (await servers.signedIn(server)).user.call('ledger:hold', { mark }).catch(() => 'broken');
      await untilSeen(() => upstream.executed.has(mark));
      const callId = await until(async () => (await admin.get('/api/calls?status=running&tool=ledger:hold')).json.calls[0]?.call_id);
      await ledger.succeeded(15);
      server.child.kill('SIGKILL');
      expect(await waiting).toBe('broken');
      // The others go on meanwhile.
      await ledger.succeeded(15);
      running[which] = await open(String(which));
      users[which] = (await servers.signedIn(running[which])).user;
      expect((await admin.get(`/api/calls/${callId}`)).json).toMatchObject({ status: 'unknown', tool: 'ledger:hold', subject: 'user-1' });
    }

    for (const [which, mark] of [
      [1, 'first'],
      [2, 'second'],
      [1, 'third'],
    ] as const)
      await killAndRestart(which, `killed ${mark}`);
    await ledger.succeeded(15);
    await ledger.stop();
    // Clients whose connection broke send the same key again, to another server.
    await ledger.askAgain();
    // Unrecorded calls are recorded by the next start, or by running servers, within half a minute.
    await open('3');
    expect(await disagreements({ ledger, upstream, admin, killed: true })).toEqual([]);
    await until(async () => (await admin.get('/api/calls?status=running')).json.calls.length === 0);
    expect((await admin.get('/api/audit/verify')).json).toMatchObject({ ok: true });
  });
});
