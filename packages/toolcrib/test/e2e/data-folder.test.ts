import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestServer, temporaryDirectory, until, type TestServer } from '../running-server.ts';

const unready = (server: TestServer) =>
  until(async () => {
    const { status, json } = await server.client().get('/readyz');
    return status === 503 && JSON.stringify(json);
  });

test('a server whose data folder is deleted acknowledges nothing, says why in its readiness, and saves its data when it stops', async () => {
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

test('a server whose data folder is replaced stays unready until the same folder is back', async () => {
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

test('[SEC-3] a data folder that others could read is closed to them at the start, with its files', async () => {
  await using parent = await temporaryDirectory();
  await chmod(parent.path, 0o755);
  const dataDir = join(parent.path, 'data');
  await (await startTestServer({ dataDir }))[Symbol.asyncDispose]();
  await chmod(dataDir, 0o755);
  for (const name of ['toolcrib.db', 'keys.json']) await chmod(join(dataDir, name), 0o644);
  await using _server = await startTestServer({ dataDir });
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  for (const name of ['toolcrib.db', 'keys.json', 'server.lock']) expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
  // Only root can become somebody else; elsewhere the modes have to do.
  const asNobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const { status } = spawnSync('ls', [dataDir], asNobody);
  expect(status === 0).toBe(process.getuid?.() !== 0);
});

test('[SEC-3] a shared folder, or one that somebody works in, is not closed to others', async () => {
  await using shared = await temporaryDirectory();
  await chmod(shared.path, 0o1777);
  await (await startTestServer({ dataDir: shared.path }))[Symbol.asyncDispose]();
  expect((await stat(shared.path)).mode & 0o7777).toBe(0o1777);
  expect((await stat(join(shared.path, 'keys.json'))).mode & 0o777).toBe(0o600);
  await using parent = await temporaryDirectory();
  const inside = join(parent.path, 'work');
  await mkdir(inside);
  await chmod(parent.path, 0o755);
  const before = process.cwd();
  try {
    process.chdir(inside);
    await using _server = await startTestServer({ dataDir: parent.path });
    expect((await stat(parent.path)).mode & 0o777).toBe(0o755);
    expect((await stat(join(parent.path, 'toolcrib.db'))).mode & 0o777).toBe(0o600);
  } finally {
    process.chdir(before);
  }
});
