import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseFileOf, journalFolder } from '../../src/store/data-files.ts';
import { replayJournal } from '../../src/store/journal/replay.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { createStore } from '../../src/store/store.ts';
import { sampleChainKeys } from '../contract/store-samples.ts';
import { killableServers } from '../fixtures/killable-servers.ts';
import { canCutPower, preparePowerCut } from '../fixtures/power-cut.ts';
import { recordedCalls } from '../fixtures/recorded-calls.ts';
import { grantBuiltinTools, temporaryDirectory, untilSeen } from '../running-server.ts';

const servers = killableServers();
const isAble = canCutPower();
const isRequired = process.env.TOOLCRIB_REQUIRE_PARTS === '1';
const cuts = Number(process.env.TOOLCRIB_KILLS ?? 2);
const timeout = 120_000 + cuts * 60_000;

test.skipIf(isAble || !isRequired)('a power cut can be simulated: install gcc, on Linux', () => {
  expect(isAble).toBe(true);
});

describe.skipIf(!isAble)('after a power cut', () => {
  let work: Awaited<ReturnType<typeof temporaryDirectory>>;
  beforeAll(async () => {
    work = await temporaryDirectory();
  });
  afterAll(() => work[Symbol.asyncDispose]());

  /** The record of a data folder, as the next start finds it. */
  async function recordOf(dataDir: string) {
    const keys = sampleChainKeys('k1');
    await using database = await openSqlite(databaseFileOf(dataDir));
    const warnings: string[] = [];
    const place = { database, databaseFile: databaseFileOf(dataDir), keys, folder: journalFolder(dataDir), server: 'here' };
    await replayJournal({ ...place, warn: (message) => void warnings.push(message) });
    const rows = await database.kysely.selectFrom('calls').select('call_id').execute();
    const { ok } = await createStore(database, { keys }).audit.verify();
    return { ids: new Set(rows.map(({ call_id }) => call_id)), ok, warnings };
  }

  /** Records calls in small segments until it is killed. Those that counted. */
  async function recordUntilKilled(dataDir: string, mode: string, env: Record<string, string>, most: number): Promise<string[]> {
    const program = join(import.meta.dirname, '..', 'fixtures', 'journal-program.ts');
    const child = spawn(process.execPath, [program, dataDir, mode], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, ...env },
    });
    const counted: string[] = [];
    for await (const id of createInterface(child.stdout)) {
      counted.push(id);
      if (counted.length === most) child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    expect(child.signalCode).toBe('SIGKILL');
    return counted;
  }

  for (const mode of ['synced', 'unsynced'] as const) {
    const promise = mode === 'synced' ? 'every call that counted is recorded' : 'the record verifies, though the last moments are lost';
    test(`[SEC-4] ${promise}, while segments come and go`, { timeout }, async () => {
      let dataDir = join(work.path, mode, '0');
      mkdirSync(dataDir, { recursive: true });
      await (await openSqlite(databaseFileOf(dataDir))).close();
      const all: string[] = [];
      for (let round = 0; round < cuts; round++) {
        const cut = preparePowerCut(dataDir, join(work.path, `${mode}-work`));
        const counted = await recordUntilKilled(dataDir, mode, cut.env, 2000 + 333 * round);
        all.push(...counted);
        // Enough that some segments were deleted.
        const written = Math.max(0, ...readdirSync(journalFolder(dataDir)).map((name) => Number.parseInt(name, 10)));
        expect(written).toBeGreaterThan(5);
        const left = join(work.path, mode, String(round + 1));
        cut.leave(left);
        const { ids, ok, warnings } = await recordOf(left);
        expect({ ok, warnings }).toEqual({ ok: true, warnings: [] });
        const lost = all.filter((id) => !ids.has(id));
        // Where nothing is synced, something has to be lost: else the power was not cut at all.
        expect(lost.length > 0).toBe(mode === 'unsynced');
        dataDir = left;
      }
    });
  }

  test('[SEC-4] every call that counted is recorded once, also where the disk failed to take one of them', async () => {
    const dataDir = join(work.path, 'failing');
    mkdirSync(dataDir, { recursive: true });
    await (await openSqlite(databaseFileOf(dataDir))).close();
    const cut = preparePowerCut(dataDir, join(work.path, 'failing-work'));
    const counted = await recordUntilKilled(dataDir, 'synced', { ...cut.env, POWER_FAILS: '20' }, 1000);
    expect(new Set(counted).size).toBe(counted.length);
    const left = join(work.path, 'failing-left');
    cut.leave(left);
    const { ids, ok, warnings } = await recordOf(left);
    expect({ ok, warnings, missing: counted.filter((id) => !ids.has(id)) }).toEqual({ ok: true, warnings: [], missing: [] });
  });

  test('[SEC-4] a server with --fsync has a record of every call it acknowledged', { timeout }, async () => {
    let dataDir = join(work.path, 'server', '0');
    const open = (env: Record<string, string> = {}) =>
      servers.openWith(env, '--data', dataDir, '--principal-rate', '0', '--principal-concurrency', '0', '--fsync');
    {
      await using first = await open();
      await grantBuiltinTools((await servers.signedIn(first)).admin);
      first.child.kill('SIGTERM');
      await first.ended;
    }
    const acknowledged: string[] = [];
    for (let round = 0; round < cuts; round++) {
      const cut = preparePowerCut(dataDir, join(work.path, 'server-work'));
      await using server = await open(cut.env);
      const { user } = await servers.signedIn(server);
      const load = Array.from({ length: 8 }, async () => {
        for (;;) acknowledged.push((await user.call('builtin:uuid', {})).json.call_id as string);
      }).map((calling) => calling.catch(() => undefined));
      const before = acknowledged.length;
      await untilSeen(() => acknowledged.length >= before + 200);
      server.child.kill('SIGKILL');
      await Promise.all([...load, server.ended]);
      dataDir = join(work.path, 'server', String(round + 1));
      cut.leave(dataDir);
      await using after = await open();
      const { admin } = await servers.signedIn(after);
      const times = await recordedCalls(admin);
      expect(acknowledged.filter((id) => times.get(id) !== 1)).toEqual([]);
      expect((await admin.get('/api/audit/verify')).json).toMatchObject({ ok: true });
      after.child.kill('SIGTERM');
      await after.ended;
    }
  });
});
