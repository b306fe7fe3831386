import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { adminClaims, grantBuiltinTools, type ServerProcess, spawnServer, temporaryDirectory, userClaims } from '../running-server.ts';

const postgres = part('postgres');
const callers = 12;
const unlimited = ['--principal-rate', '0', '--principal-concurrency', '0'];

let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
beforeAll(async () => {
  issuer = await startTokenIssuer();
});
afterAll(() => issuer[Symbol.asyncDispose]());

/** Calls without end until the server is gone; every call that was acknowledged is added to `acknowledged`. */
async function callUntilGone(client: ApiClient, acknowledged: Set<string>, kinds: readonly Kind[]): Promise<void> {
  for (let count = 0; ; count++) {
    const [name, args, more] = kinds[count % kinds.length] ?? (['builtin:uuid', {}, {}] satisfies Kind);
    try {
      const { json } = await client.call(name, args, more);
      acknowledged.add(json.call_id);
    } catch {
      return;
    }
  }
}

type Kind = [name: string, args: object, more: object];
const quick: Kind[] = [
  ['builtin:uuid', {}, {}],
  ['builtin:calculator', { expression: '1 / 0' }, {}],
  ['builtin:wait', { seconds: 0.002 }, {}],
  ['builtin:wait', { seconds: 300 }, { timeout_ms: 3 }],
];

/** Kills the server when this many calls were acknowledged under load. */
async function killUnderLoad(server: ServerProcess, after: number, kinds: readonly Kind[]): Promise<Set<string>> {
  const acknowledged = new Set<string>();
  const enough = new Promise<void>((resolve) => {
    const add = acknowledged.add.bind(acknowledged);
    acknowledged.add = (id) => {
      if (acknowledged.size + 1 >= after) resolve();
      return add(id);
    };
  });
  const token = await issuer.sign(userClaims);
  const load = Array.from({ length: callers }, () => callUntilGone(server.client(token), acknowledged, kinds));
  await enough;
  server.child.kill('SIGKILL');
  await Promise.all([...load, server.ended]);
  return acknowledged;
}

/** Every id the record knows. */
async function recordedIds(admin: ApiClient): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let cursor: string | null = ''; cursor !== null;) {
    const { json } = await admin.get(`/api/calls?limit=1000${cursor === '' ? '' : `&cursor=${cursor}`}`);
    for (const { call_id } of json.calls) ids.add(call_id);
    cursor = json.next_cursor;
  }
  return ids;
}

async function killAgainAndAgain(place: string[], rounds: number, kinds: readonly Kind[]): Promise<number> {
  const everything = new Set<string>();
  const args = [...place, '--issuer', issuer.issuer, ...unlimited];
  const adminToken = await issuer.sign(adminClaims);
  for (let round = 0; round <= rounds; round++) {
    await using server = await spawnServer(args);
    const admin = server.client(adminToken);
    if (round === 0) await grantBuiltinTools(admin);
    const recorded = await recordedIds(admin);
    expect([...everything].filter((id) => !recorded.has(id))).toEqual([]);
    expect((await admin.get('/api/audit/verify')).json).toMatchObject({ ok: true });
    if (round === rounds) break;
    // Another moment every time: in the middle of a batch, or right after one.
    for (const id of await killUnderLoad(server, 60 + 17 * round, kinds)) everything.add(id);
  }
  return everything.size;
}

test('[SEC-4] a server that is killed ten times under load has a record of every call it acknowledged', async () => {
  await using data = await temporaryDirectory();
  // Promised calls too: what became of them may be unknown, but that they were made is not.
  const kinds: Kind[] = [...quick, ['builtin:wait', { seconds: 0.01 }, { async: true }]];
  expect(await killAgainAndAgain(['--data', data.path], 10, kinds)).toBeGreaterThan(1000);
});

describe.skipIf(!postgres.available)('on PostgreSQL', () => {
  test('[SEC-4] [OPS-2] a server that is killed twice under load has a record of every call it acknowledged', async () => {
    await using data = await temporaryDirectory();
    await using database = await freshPostgresDatabase();
    expect(await killAgainAndAgain(['--data', data.path, '--database', database.url], 2, quick)).toBeGreaterThan(100);
  });
});
