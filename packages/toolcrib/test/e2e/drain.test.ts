import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawConnection } from '../fixtures/raw-connection.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import {
  adminClaims,
  grantBuiltinTools,
  spawnServer,
  startServerWithIssuer,
  temporaryDirectory,
  until,
  userClaims,
} from '../running-server.ts';

let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
beforeAll(async () => {
  issuer = await startTokenIssuer();
});
afterAll(() => issuer[Symbol.asyncDispose]());

/** A server process with the built-in tools granted, and the two who use it. */
async function startProcess(dataDir: string, drainMs: number) {
  const server = await spawnServer(['--data', dataDir, '--issuer', issuer.issuer, '--drain', String(drainMs)]);
  const [user, admin] = [server.client(await issuer.sign(userClaims)), server.client(await issuer.sign(adminClaims))];
  await grantBuiltinTools(admin);
  return { server, user, admin };
}

/** Whether a new connection is refused. */
async function isRefused(url: string): Promise<boolean> {
  try {
    (await rawConnection(url)).destroy();
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
  }
}

describe('on SIGTERM', () => {
  test('running calls are completed and answered, new requests are refused, and the process ends with 0', async () => {
    await using data = await temporaryDirectory();
    const { server, user } = await startProcess(data.path, 20_000);
    await using _ = server;
    const plain = user.call('builtin:wait', { seconds: 2 });
    const promised = await user.call('builtin:wait', { seconds: 2 }, { async: true });
    await using stream = await user.callStream('builtin:wait', { seconds: 2 });
    await using feed = await user.follow();
    await feed.nextOf('source_status');
    // All of them are running once the first progress of the last is there.
    await stream.nextOf('progress');
    server.child.kill('SIGTERM');
    await until(() => isRefused(server.url));
    // A stream without end ends at once, so that its client finds another server.
    expect(await feed.rest()).toEqual([]);
    expect((await stream.nextOf('result')).data).toMatchObject({ status: 'completed', result: { waited_seconds: 2 } });
    expect((await plain).json).toMatchObject({ status: 'completed' });
    expect(await server.ended).toEqual({ code: 0, signal: null });

    await using after = await spawnServer(['--data', data.path, '--issuer', issuer.issuer]);
    const state = await after.client(user.token).get(promised.json.location);
    expect(state.json).toMatchObject({ status: 'completed', answer: { success: true } });
    const { json } = await after.client(await issuer.sign(adminClaims)).get('/api/calls?tool=builtin:wait');
    expect(json.calls.map(({ status }: { status: string }) => status)).toEqual(['completed', 'completed', 'completed']);
  });

  test('a call that takes longer than the drain time is cancelled, answered and recorded', async () => {
    await using data = await temporaryDirectory();
    const { server, user } = await startProcess(data.path, 100);
    await using _ = server;
    const promised = await user.call('builtin:wait', { seconds: 300 }, { async: true });
    const plain = user.call('builtin:wait', { seconds: 300 });
    await using stream = await user.callStream('builtin:wait', { seconds: 300 });
    await stream.nextOf('progress');
    server.child.kill('SIGTERM');
    expect((await stream.nextOf('result')).data).toMatchObject({ status: 'cancelled', success: false });
    expect((await plain).json).toMatchObject({ status: 'cancelled', success: false });
    expect(await server.ended).toEqual({ code: 0, signal: null });

    await using after = await spawnServer(['--data', data.path, '--issuer', issuer.issuer]);
    expect((await after.client(user.token).get(promised.json.location)).json).toMatchObject({ status: 'cancelled' });
    const { json } = await after.client(await issuer.sign(adminClaims)).get('/api/calls?tool=builtin:wait');
    expect(json.calls.map(({ status }: { status: string }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled']);
  });

  test('a client that never ends its headers or its body does not keep the process alive', async () => {
    await using data = await temporaryDirectory();
    const { server, user } = await startProcess(data.path, 100);
    await using _ = server;
    const half = await rawConnection(server.url);
    half.write('POST /api/bff/tools/call HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n');
    half.write(`Authorization: Bearer ${user.token}\r\nContent-Type: application/json\r\n\r\n{"name":`);
    const header = await rawConnection(server.url);
    header.write('GET / HTTP/1.1\r\nHost: 127');
    // Both have arrived when something sent after them was answered.
    expect((await user.call('builtin:uuid')).status).toBe(200);
    server.child.kill('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
    half.destroy();
    header.destroy();
  });
});

test.for([
  ['is not ready', 'GET /readyz HTTP/1.1'],
  ['refuses what comes over a connection that is still open', 'GET /api/bff/tools HTTP/1.1'],
] as const)('[BFF-7] while it drains, the server %s', async ([, line]) => {
  await using parts = await startServerWithIssuer({ drainMs: 20_000 });
  const { server } = parts;
  const user = await parts.signedIn(userClaims);
  const socket = await rawConnection(server.url);
  let answers = '';
  socket.on('data', (chunk: Buffer) => (answers += chunk.toString()));
  const ask = (line: string, body = '') =>
    socket.write(
      [
        line,
        'Host: 127.0.0.1',
        `Authorization: Bearer ${user.token}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        '',
        body,
      ].join('\r\n'),
    );
  const running = await user.callStream('builtin:wait', { seconds: 1.1 });
  ask('POST /api/bff/tools/call HTTP/1.1', JSON.stringify({ name: 'builtin:wait', arguments: { seconds: 1.1 } }));
  await running.nextOf('progress');
  const closed = server.running.close();
  // It waits in line behind the answer of the call, and is the last that is answered here.
  ask(line);
  await once(socket, 'close');
  await closed;
  expect((await running.nextOf('result')).data.status).toBe('completed');
  const found = [...answers.matchAll(/HTTP\/1\.1 (\d+)[\s\S]*?\r\n\r\n(\{.*?\})(?=HTTP|$)/g)].map(([, status, body]) => [
    Number(status),
    JSON.parse(body ?? '').code ?? JSON.parse(body ?? '').status,
  ]);
  expect(found).toEqual([
    [200, 'completed'],
    [503, 'SERVICE_UNAVAILABLE'],
  ]);
});

test('a call that was still being sent when the server stopped is refused, not run without a record', async () => {
  await using parts = await startServerWithIssuer({ drainMs: 20_000 });
  const user = await parts.signedIn(userClaims);
  const body = JSON.stringify({ name: 'builtin:uuid' });
  const socket = await rawConnection(parts.server.url);
  let answers = '';
  socket.on('data', (chunk: Buffer) => (answers += chunk.toString()));
  const lines = ['POST /api/bff/tools/call HTTP/1.1', 'Host: 127.0.0.1', `Authorization: Bearer ${user.token}`, 'Expect: 100-continue'];
  socket.write([...lines, 'Content-Type: application/json', `Content-Length: ${body.length}`, '', ''].join('\r\n'));
  // The server has taken the request in, and waits for its body.
  await once(socket, 'data');
  const closed = Promise.all([parts.server.running.close(), once(socket, 'close')]);
  socket.write(body);
  await closed;
  expect(answers).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 503 /);
  expect(answers).toContain('"code":"SERVICE_UNAVAILABLE"');
});
