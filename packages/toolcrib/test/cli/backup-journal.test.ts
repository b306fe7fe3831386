import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseFileOf, journalFolder } from '../../src/store/data-files.ts';
import { endOfJournal, hasImported } from '../../src/store/journal/left-in-journal.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { devToken, spawnServer, temporaryDirectory, type ServerProcess, type TemporaryDirectory } from '../running-server.ts';
import { runToolcrib } from './run-toolcrib.ts';

let folder: TemporaryDirectory;
beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(() => folder[Symbol.asyncDispose]());

const place = (name: string) => join(folder.path, name);
const asAdmin = async (server: ServerProcess) => server.client(await devToken(server.url, 'admin'));

async function callOnce(admin: ApiClient): Promise<string> {
  return (await admin.post('/api/bff/tools/call', { name: 'builtin:uuid', arguments: {} })).json.call_id;
}

/** Which of these calls the record of a backup does not have. */
async function missingIn(backup: string, ids: readonly string[]): Promise<string[]> {
  const data = `${backup}-restored`;
  expect(await runToolcrib(['restore', backup, '--data', data])).toMatchObject({ code: 0 });
  await using server = await spawnServer(['--data', data]);
  const admin = await asAdmin(server);
  const missing: string[] = [];
  for (const id of ids) if ((await admin.get(`/api/calls/${id}`)).status !== 200) missing.push(id);
  expect((await admin.get('/api/audit/verify')).json).toMatchObject({ ok: true });
  return missing;
}

test('[SEC-4] [OPS-3] a backup has every call that was answered before it, while the server runs and after it was killed', async () => {
  const data = place('live');
  await using server = await spawnServer(['--data', data]);
  const admin = await asAdmin(server);
  const ids: string[] = [];
  for (let count = 0; count < 20; count++) ids.push(await callOnce(admin));
  expect(await runToolcrib(['backup', place('running'), '--with-keys', '--data', data])).toMatchObject({ code: 0 });
  expect(await missingIn(place('running'), ids)).toEqual([]);

  // Killed in the moment of an answer, when the call is in the journal alone.
  ids.push(await callOnce(admin));
  server.child.kill('SIGKILL');
  await server.ended;
  const end = endOfJournal(journalFolder(data));
  expect(end === undefined || hasImported(databaseFileOf(data), end)).toBe(false);
  expect(await runToolcrib(['backup', place('killed'), '--with-keys', '--data', data])).toMatchObject({ code: 0 });
  expect(readdirSync(journalFolder(data))).toEqual([]);
  expect(await missingIn(place('killed'), ids)).toEqual([]);
});
