import { expect, test } from 'vitest';
import { cuttableProxy } from '../fixtures/cuttable-proxy.ts';
import { killableServers } from '../fixtures/killable-servers.ts';
import { startLedgerUpstream } from '../fixtures/ledger-upstream.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { temporaryDirectory, until, untilSeen } from '../running-server.ts';

const postgres = part('postgres');
const servers = killableServers();

test.skipIf(!postgres.available)(
  '[BFF-7] [SEC-4] a database that accepts everything and answers nothing holds up neither calls, nor health checks, nor the end of the server',
  async () => {
    await using database = await freshPostgresDatabase();
    await using proxy = await cuttableProxy(database.url);
    await using upstream = await startLedgerUpstream();
    await using data = await temporaryDirectory();
    await using server = await servers.open('--data', data.path, '--database', proxy.url, '--drain', '1');
    const { admin, user } = await servers.signedIn(server);
    await admin.post('/api/sources?wait=60000', { name: 'Ledger', mcp_server_url: upstream.url });
    await grantEverything(admin);
    await until(async () => (await user.call('ledger:note', { mark: 'before' })).status === 200);

    const held = user.call('ledger:hold', { mark: 'held' }, { timeout_ms: 60_000 });
    await untilSeen(() => upstream.executed.has('held'));
    proxy.silence();
    const ran = await user.call('ledger:note', { mark: 'ran' }, { timeout_ms: 500 });
    expect(ran).toMatchObject({ status: 200, json: { success: false, status: 'unknown' } });
    const refused = await until(async () => {
      const reply = await user.call('ledger:note', { mark: 'refused' }, { timeout_ms: 500 });
      return reply.status === 503 && reply;
    });
    expect(refused.json.message).toContain('The database does not answer.');
    expect(await server.client().get('/readyz')).toMatchObject({ status: 503, json: { code: 'SERVICE_UNAVAILABLE' } });
    upstream.release();
    expect((await held).json.status).toBe('unknown');
    expect(upstream.executed.has('refused')).toBe(false);

    proxy.mend();
    await until(async () => (await server.client().get('/readyz')).status === 200, 40_000);
    expect((await user.call('ledger:note', { mark: 'after' })).json).toMatchObject({ success: true });
    // Calls that ran are recorded with their outcome, once.
    const { calls } = (await admin.get('/api/calls?tool=ledger:note&limit=100')).json;
    const recorded = calls.filter(({ call_id }: { call_id: string }) => call_id === ran.json.call_id);
    expect(recorded).toMatchObject([{ status: 'completed' }]);
    expect((await admin.get(`/api/calls/${(await held).json.call_id}`)).json.status).toBe('completed');
    expect((await admin.get('/api/audit/verify')).json).toMatchObject({ ok: true });

    proxy.silence();
    server.child.kill('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
  },
  // Several timeouts of ten seconds have to pass.
  360_000,
);
