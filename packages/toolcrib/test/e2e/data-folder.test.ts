import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestServer, temporaryDirectory, until, type TestServer } from '../running-server.ts';

const unready = (server: TestServer) =>
  until(async () => {
    const { status, json } = await server.client().get('/readyz');
    return status === 503 && JSON.stringify(json);
  });

test('a data folder that is deleted under a server: nothing is acknowledged, readiness says why, and the stop saves what was there', async () => {
  await using parent = await temporaryDirectory();
  const dataDir = join(parent.path, 'data');
  const server = await startTestServer({ dataDir });
  const admin = await server.as('admin');
  expect((await admin.put('/api/secrets/KEPT', { value: 'from before' })).status).toBe(201);
  await rm(dataDir, { recursive: true });
  // Without waiting for anybody to notice: a change is looked at before it is acknowledged.
  const refused = await admin.put('/api/secrets/LOST', { value: 'never kept' });
  expect(refused).toMatchObject({ status: 503, json: { message: expect.stringContaining('deleted, moved or replaced') } });
  expect((await admin.post('/api/groups', { name: 'Lost' })).status).toBe(503);
  expect((await admin.call('builtin:uuid')).status).toBe(503);
  expect(await unready(server)).toContain('deleted, moved or replaced');
  await server[Symbol.asyncDispose]();

  const rescued = (await readdir(dirname(dataDir))).find((name) => name.startsWith(`${basename(dataDir)}-rescued-`)) ?? '';
  await using again = await startTestServer({ dataDir: join(parent.path, rescued) });
  const { json } = await (await again.as('admin')).get('/api/secrets');
  expect(json.secrets).toMatchObject([{ name: 'KEPT' }]);
  expect((await (await again.as('admin')).get('/api/audit/verify')).json.ok).toBe(true);
});

test('a data folder that is replaced under a server stays refused until the very same one is back', async () => {
  await using parent = await temporaryDirectory();
  const [dataDir, away, other] = [join(parent.path, 'data'), join(parent.path, 'away'), join(parent.path, 'other')];
  await (await startTestServer({ dataDir: other }))[Symbol.asyncDispose]();
  await using server = await startTestServer({ dataDir });
  const admin = await server.as('admin');
  await rename(dataDir, away);
  await unready(server);
  await rename(other, dataDir);
  expect((await admin.post('/api/groups', { name: 'Nowhere' })).status).toBe(503);
  await rename(dataDir, other);
  await rename(away, dataDir);
  await until(async () => (await server.client().get('/readyz')).status === 200);
  expect((await admin.post('/api/groups', { name: 'Here' })).status).toBe(201);
  expect((await admin.call('builtin:uuid')).status).toBe(200);
});
