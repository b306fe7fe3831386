import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseFileOf, journalFolder } from '../../src/store/data-files.ts';
import { endOfJournal, hasImported } from '../../src/store/journal/left-in-journal.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { killableServers } from '../fixtures/killable-servers.ts';
import { recordedCalls } from '../fixtures/recorded-calls.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { grantBuiltinTools, temporaryDirectory, type ServerProcess } from '../running-server.ts';

const servers = killableServers();
const postgres = part('postgres');
const callers = 16;
/** A few in the suite; more by hand. */
const kills = Number(process.env.TOOLCRIB_KILLS ?? 4);
const timeout = 120_000 + kills * 30_000;

/** Calls without end until the server is gone. */
async function callUntilGone(user: ApiClient, acknowledged: string[]): Promise<void> {
  for (;;) {
    try {
      const { json } = await user.call('builtin:uuid', {});
      acknowledged.push(json.call_id);
    } catch {
      return;
    }
  }
}

/** Kills the server after this many answers, in the middle of more. */
async function killUnderLoad(server: ServerProcess, after: number): Promise<string[]> {
  const { user } = await servers.signedIn(server);
  const acknowledged: string[] = [];
  const load = Array.from({ length: callers }, () => callUntilGone(user, acknowledged));
  while (acknowledged.length < after) await new Promise((resolve) => setImmediate(resolve));
  server.child.kill('SIGKILL');
  await Promise.all([...load, server.ended]);
  return acknowledged;
}

/** Whether there are calls in the journal that the embedded database does not have. */
function isBehind(dataDir: string): boolean {
  const end = endOfJournal(journalFolder(dataDir));
  return end !== undefined && !hasImported(databaseFileOf(dataDir), end);
}

/** Ends with a server that was started once more. How often the journal was ahead, and how many calls were acknowledged in all. */
async function killAgainAndAgain(dataDir: string, more: string[]): Promise<{ ahead: number; acknowledged: number }> {
  const all = new Set<string>();
  let ahead = 0;
  for (let round = 0; round <= kills; round++) {
    await using server = await servers.open('--data', dataDir, '--principal-rate', '0', '--principal-concurrency', '0', ...more);
    const { admin } = await servers.signedIn(server);
    if (round === 0) await grantBuiltinTools(admin);
    const times = await recordedCalls(admin);
    expect([...all].filter((id) => times.get(id) !== 1)).toEqual([]);
    expect((await admin.get('/api/audit/verify')).json).toMatchObject({ ok: true });
    if (round === kills) break;
    for (const id of await killUnderLoad(server, 150 + ((37 * round) % 400))) all.add(id);
    if (!more.includes('--database') && isBehind(dataDir)) ahead += 1;
  }
  console.info(`${kills} kills, ${ahead} with calls only in the journal, ${all.size} calls acknowledged`);
  return { ahead, acknowledged: all.size };
}

describe('a server that is killed again and again while its journal is not empty', () => {
  let data: Awaited<ReturnType<typeof temporaryDirectory>>;
  beforeAll(async () => {
    data = await temporaryDirectory();
  });
  afterAll(() => data[Symbol.asyncDispose]());

  test('[SEC-4] has recorded every call it acknowledged once, in a chain that verifies', { timeout }, async () => {
    const { ahead, acknowledged } = await killAgainAndAgain(join(data.path, 'plain'), []);
    expect(ahead).toBeGreaterThan(0);
    expect(acknowledged).toBeGreaterThanOrEqual(kills * 150);
  });

  test('[SEC-4] the same where every record has to reach the disk', { timeout }, async () => {
    const { ahead, acknowledged } = await killAgainAndAgain(join(data.path, 'synced'), ['--fsync']);
    expect(ahead).toBeGreaterThan(0);
    expect(acknowledged).toBeGreaterThanOrEqual(kills * 150);
  });

  test.skipIf(!postgres.available)(
    '[SEC-4] [OPS-2] the same on PostgreSQL, where the operator has chosen a journal',
    { timeout },
    async () => {
      await using database = await freshPostgresDatabase();
      const { acknowledged } = await killAgainAndAgain(join(data.path, 'postgres'), ['--database', database.url, '--journal', 'on']);
      expect(acknowledged).toBeGreaterThanOrEqual(kills * 150);
    },
  );
});
