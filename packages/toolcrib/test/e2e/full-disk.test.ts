import { execFileSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { killableServers } from '../fixtures/killable-servers.ts';
import { startLedgerUpstream } from '../fixtures/ledger-upstream.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { until } from '../running-server.ts';

const servers = killableServers();

/** A disk of a few megabytes; undefined where nobody lets us make one. */
async function smallDisk(): Promise<({ path: string } & AsyncDisposable) | undefined> {
  const path = await mkdtemp(join(tmpdir(), 'toolcrib-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'toolcrib-test', path], { stdio: 'ignore' });
  } catch {
    await rm(path, { recursive: true });
    return undefined;
  }
  return {
    path,
    async [Symbol.asyncDispose]() {
      execFileSync('umount', ['-l', path]);
      await rm(path, { recursive: true });
    },
  };
}

const disk = await smallDisk();
const isRequired = process.env.TOOLCRIB_REQUIRE_PARTS === '1';

test.skipIf(disk !== undefined || !isRequired)('a disk can be mounted: run the tests as root, on Linux', () => {
  expect(disk).toBeDefined();
});

test.skipIf(disk === undefined)(
  '[SEC-4] [BFF-7] with a full disk nothing is executed, the reason is said, and room is all it needs',
  async () => {
    await using small = disk as NonNullable<typeof disk>;
    await using upstream = await startLedgerUpstream();
    await using running = await servers.open('--data', small.path);
    const { admin, user } = await servers.signedIn(running);
    await admin.post('/api/sources?wait=60000', { name: 'Ledger', mcp_server_url: upstream.url });
    await grantEverything(admin);
    const answers = new Map<string, { status: number; json: { status?: string; call_id?: string; message?: string } }>();
    const call = async (mark: string) => {
      const reply = await user.call('ledger:note', { mark }, { timeout_ms: 100 });
      answers.set(mark, reply);
      return reply;
    };
    expect((await call('before')).json.status).toBe('completed');

    const ballast = join(small.path, 'ballast');
    const { bavail, bsize } = statfsSync(small.path);
    await writeFile(ballast, Buffer.alloc(bavail * bsize));
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
    expect(running.log.join('\n')).toContain('database or disk is full');
    expect(running.log.join('\n')).not.toContain('cannot rollback');

    await rm(ballast);
    await until(async () => (await running.client().get('/readyz')).status === 200);
    expect((await call('after')).json.status).toBe('completed');
    expect((await admin.post('/api/groups', { id: 'later', name: 'Later' })).status).toBe(201);
    // What was executed is recorded as it went, whatever its caller could be told; what was refused was not executed.
    for (const [mark, { status, json }] of answers) {
      const recorded = status === 503 ? 'nothing' : (await admin.get(`/api/calls/${json.call_id}`)).json.status;
      expect([mark, upstream.executed.get(mark) ?? 0, recorded]).toEqual(status === 503 ? [mark, 0, 'nothing'] : [mark, 1, 'completed']);
    }
    expect((await admin.get('/api/audit/verify')).json).toMatchObject({ ok: true });
  },
);
