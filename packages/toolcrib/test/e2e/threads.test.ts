import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServeConfig } from '../../src/server/server-config.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { rawConnection, readRawAnswer, sendRaw } from '../fixtures/raw-connection.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import {
  adminClaims,
  grantBuiltinTools,
  spawnServer,
  startServerWithIssuer,
  startTestServer,
  temporaryDirectory,
  type TestServer,
  until,
  untilSeen,
  userClaims,
} from '../running-server.ts';

const peer = '127.0.0.1';
const path = '/api/bff/tools/call';
let server: TestServer;
let alice: ApiClient;
let admin: ApiClient;

/** Threads are only where a port can be shared. */
const cannotShare = process.platform !== 'linux';

async function start(config: Partial<ServeConfig> = {}): Promise<TestServer> {
  return startTestServer({ threads: 2, ...config });
}

/** A plain call as bytes, over a connection of its own unless it is kept open. */
function callBytes(token: string | undefined, body: object, ...more: string[]): string {
  const text = JSON.stringify(body);
  const head = [`POST ${path} HTTP/1.1`, `Host: ${peer}`, `Authorization: Bearer ${token}`, 'Content-Type: application/json', ...more];
  return [...head, `Content-Length: ${Buffer.byteLength(text)}`, '', text].join('\r\n');
}

const uuid = { name: 'builtin:uuid', arguments: {} };
const close = 'Connection: close';

describe.skipIf(cannotShare)('[BFF-2] a server whose callers speak with threads', () => {
  beforeAll(async () => {
    server = await start();
    [alice, admin] = await Promise.all([server.as('alice'), server.as('admin')]);
    // From now on their tokens are known, and their calls are plain ones.
    await Promise.all([alice.get('/api/me'), admin.get('/api/me')]);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('answers calls of many connections, each with its own answer', async () => {
    const texts = Array.from({ length: 40 }, (_, index) => `text ${index} ü€😀`);
    const answers = await Promise.all(
      texts.map(async (text) => {
        const bytes = callBytes(alice.token, { name: 'builtin:hash', arguments: { text } }, close);
        return readRawAnswer(await sendRaw(server.url, bytes));
      }),
    );
    const expected = await Promise.all(texts.map(async (text) => (await alice.call('builtin:hash', { text })).json.result));
    expect(answers.map(({ body }) => (body as { result: unknown }).result)).toEqual(expected);
  });

  test('answers calls and other requests of one connection in their order', async () => {
    const list = ['GET /healthz HTTP/1.1', `Host: ${peer}`, '', ''].join('\r\n');
    const refused = callBytes(alice.token, { name: 'no:such-tool', arguments: {} });
    const answer = await sendRaw(server.url, `${callBytes(alice.token, uuid)}${list}${refused}${callBytes(alice.token, uuid, close)}`);
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])).toEqual(['200', '200', '404', '200']);
  });

  test('answers clients of HTTP/1.0 without chunks, and closes their connections', async () => {
    const list = await sendRaw(server.url, `GET /api/bff/tools HTTP/1.0\r\nHost: ${peer}\r\nAuthorization: Bearer ${alice.token}\r\n\r\n`);
    expect(list).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(list.toLowerCase()).not.toContain('transfer-encoding');
    expect(readRawAnswer(list).body).toHaveProperty('tools');
    const call = await sendRaw(server.url, callBytes(alice.token, uuid).replace('HTTP/1.1', 'HTTP/1.0'));
    expect(readRawAnswer(call)).toMatchObject({ status: 200, body: { success: true } });
  });

  test('lets a client wait for its body until it is wanted', async () => {
    const socket = await rawConnection(server.url);
    let answers = '';
    socket.on('data', (chunk: Buffer) => (answers += chunk.toString()));
    const [head, body] = callBytes(alice.token, uuid, 'Expect: 100-continue', close).split('\r\n\r\n');
    socket.write(`${head}\r\n\r\n`);
    await once(socket, 'data');
    socket.write(body ?? '');
    await once(socket, 'close');
    expect(answers).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /);
  });

  test('[BFF-4] passes streams on as they come', async () => {
    await using feed = await alice.follow();
    await feed.nextOf('source_status');
    await using stream = await alice.callStream('builtin:wait', { seconds: 300 });
    expect((await stream.nextOf('progress')).data).toMatchObject({ call_id: expect.any(String) });
  });

  test('[MCP-9] cancels a plain call whose caller leaves', async () => {
    // With one call at once, whoever asks learns whether one runs. Bad arguments keep the question from taking the place.
    const isRunning = async () => (await admin.call('builtin:wait', { seconds: -1 })).status === 429;
    const cancelled = async () => (await admin.get('/api/calls?tool=builtin:wait&status=cancelled&limit=100')).json.calls.length as number;
    await admin.patch('/api/tools/builtin:wait', { limits: { concurrency: 1 } });
    await until(async () => !(await isRunning()));
    const before = await cancelled();
    const socket = await rawConnection(server.url);
    socket.write(callBytes(alice.token, { name: 'builtin:wait', arguments: { seconds: 300 } }));
    await until(isRunning);
    socket.destroy();
    expect(await until(async () => (await cancelled()) > before)).toBe(true);
    await admin.patch('/api/tools/builtin:wait', { limits: {} });
  });

  test('[MCP-9] cancels a stream whose caller leaves', async () => {
    const stream = await alice.callStream('builtin:wait', { seconds: 300 });
    const callId = stream.response.headers.get('toolcrib-call-id') ?? '';
    await stream.nextOf('progress');
    stream.leave();
    expect(await until(async () => (await admin.get(`/api/calls/${callId}`)).json.status)).toBe('cancelled');
  });

  test('refuses what is not HTTP, and bodies that are too large, as every server does', async () => {
    await using other = await startTestServer({ threads: 1 });
    for (const bytes of ['nonsense\r\n\r\n', `GET / HTTP/1.1\r\nHost: ${peer}\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`]) {
      const [threaded, usual] = await Promise.all([sendRaw(server.url, bytes), sendRaw(other.url, bytes)]);
      expect(threaded).toBe(usual);
      expect(threaded).toMatch(/^HTTP\/1.1 400 /);
    }
    const large = JSON.stringify({ name: 'builtin:hash', arguments: { text: 'x'.repeat(2_000_000) } });
    const { status, json } = await alice.post(path, large);
    expect([status, json.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  test.each([
    ['an address', (byte: string) => `GET /healthz?${byte} HTTP/1.1\r\nHost: ${peer}\r\n${close}\r\n\r\n`],
    ['the name of a header', (byte: string) => `GET /healthz HTTP/1.1\r\nHost: ${peer}\r\n${close}\r\nX${byte}Y: 1\r\n\r\n`],
    ['a header', (byte: string) => `GET /healthz HTTP/1.1\r\nHost: ${peer}\r\n${close}\r\nX: a${byte}b\r\n\r\n`],
  ])('answers any byte in %s as every server does', async (_where, request) => {
    await using other = await startTestServer({ threads: 1 });
    const ask = async ({ url }: TestServer, byte: number) => {
      const answer = await sendRaw(url, Buffer.from(request(String.fromCharCode(byte)), 'latin1'));
      return answer
        .toLowerCase()
        .replace(/date: .*?\r\n/, '')
        .split('\r\n')
        .toSorted();
    };
    for (let byte = 0; byte < 256; byte++) {
      const [threaded, usual] = await Promise.all([ask(server, byte), ask(other, byte)]);
      expect(threaded, `byte ${byte}`).toEqual(usual);
    }
  });

  test('[SEC-4] records a refused call once, and answers it like the framework', async () => {
    const name = `no:tool-${randomUUID()}`;
    const plain = await alice.call(name);
    const usual = await alice.call(name, {}, {}, { origin: server.url });
    expect([plain.status, plain.json]).toEqual([usual.status, usual.json]);
    const recorded = await until(async () => {
      const { calls } = (await admin.get('/api/calls?limit=20')).json as { calls: { tool: string }[] };
      const found = calls.filter(({ tool }) => tool === name);
      return found.length >= 2 && found;
    });
    expect(recorded).toHaveLength(2);
  });

  test('[SEC-4] records the address of the caller, whatever a client says in the name of a thread', async () => {
    const id = `group-${randomUUID()}`;
    await admin.post('/api/groups', { id, name: id }, { 'toolcrib-door': '0.0 203.0.113.7', 'Toolcrib-Door': '1.1 203.0.113.8' });
    const { events } = (await admin.get('/api/events?topic=group')).json as { events: { subject: string; address: string }[] };
    expect(events.find(({ subject }) => subject === id)?.address).toBe(peer);
    const forged = callBytes(alice.token, uuid, 'Toolcrib-Door: 0.1 203.0.113.7', 'Origin: http://127.0.0.1', close);
    expect(readRawAnswer(await sendRaw(server.url, forged)).status).toBe(200);
  });

  test('does not share its port with another server', async () => {
    const port = Number(new URL(server.url).port);
    await expect(start({ port })).rejects.toThrow(`Port ${port} of 127.0.0.1 is taken`);
    await expect(start({ port, threads: 1 })).rejects.toThrow(`Port ${port} of 127.0.0.1 is taken`);
  });
});

describe.skipIf(cannotShare)('[SEC-4] behind a trusted proxy', () => {
  test('threads leave the address in the record to the proxy', async () => {
    await using behind = await start({ trustedProxies: [peer] });
    const keeper = await behind.as('admin');
    const id = `group-${randomUUID()}`;
    await keeper.post('/api/groups', { id, name: id }, { 'x-forwarded-for': '203.0.113.7' });
    const { events } = (await keeper.get('/api/events?topic=group')).json as { events: { subject: string; address: string }[] };
    expect(events.find(({ subject }) => subject === id)?.address).toBe('203.0.113.7');
  });
});

describe.skipIf(cannotShare)('[EXEC-7] limits', () => {
  test('count the calls of all threads together', async () => {
    await using parts = await startServerWithIssuer({ threads: 4, principalLimits: { rate_per_second: 0.0001, burst: 10 } });
    const user = await parts.signedIn(userClaims);
    await user.get('/api/me');
    const bytes = callBytes(user.token, uuid, close);
    const answers = await Promise.all(Array.from({ length: 60 }, () => sendRaw(parts.server.url, bytes)));
    const statuses = answers.map((answer) => readRawAnswer(answer).status);
    expect([200, 429].map((wanted) => statuses.filter((status) => status === wanted).length)).toEqual([10, 50]);
  });
});

describe.skipIf(cannotShare)('a server with threads', () => {
  test('learns when one of them ends, and cancels the calls of its callers', async () => {
    const workers: Worker[] = [];
    const notice = (worker: Worker) => workers.push(worker);
    process.on('worker', notice);
    // Only a server without calls stops before that.
    await using broken = await start({ drainMs: 3_600_000 });
    process.off('worker', notice);
    const user = await broken.as('admin');
    await user.patch('/api/tools/builtin:wait', { limits: { concurrency: 1 } });
    const left = user.call('builtin:wait', { seconds: 300 }).catch(() => 'left');
    await until(async () => (await user.call('builtin:wait', { seconds: -1 })).status === 429);
    // Threads that listen are the last to be started.
    await Promise.all(workers.slice(-2).map((worker) => worker.terminate()));
    expect((await broken.running.broken).message).toMatch(/^A thread that listens has ended/);
    expect(await left).toBe('left');
  });

  test('says that one of them has ended, and stops with 1', async () => {
    await using folder = await temporaryDirectory();
    const program = `const doors = []; process.on('worker', (one) => doors.push(one)); process.on('SIGUSR2', () => doors.at(-1).terminate());`;
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
    await using child = await spawnServer(['--data', folder.path, '--threads', '2'], env);
    child.child.kill('SIGUSR2');
    expect(await child.ended).toEqual({ code: 1, signal: null });
    expect(child.log.join('\n')).toContain('A thread that listens has ended');
  });

  /** The process keeps this folder for temporary files no longer than that. */
  async function withTemporary(path: string, check: () => Promise<void>): Promise<void> {
    const usual = process.env.TMPDIR;
    process.env.TMPDIR = path;
    try {
      await check();
    } finally {
      if (usual === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = usual;
    }
  }

  test('[SEC-4] keeps its socket in a folder that only its account enters, and leaves none behind', async () => {
    await using own = await temporaryDirectory();
    await withTemporary(own.path, async () => {
      const one = await start();
      const folder = (await readdir(own.path)).find((name) => name.startsWith('toolcrib-threads-')) ?? '';
      expect((await stat(join(own.path, folder))).mode & 0o777).toBe(0o700);
      expect(await readdir(join(own.path, folder))).toHaveLength(1);
      await one[Symbol.asyncDispose]();
      expect(await readdir(own.path)).toEqual([]);
    });
  });

  test('does not start where the path of its socket is too long, and says what to do', async () => {
    await using own = await temporaryDirectory();
    await using data = await temporaryDirectory();
    const long = join(own.path, 'x'.repeat(80));
    await mkdir(long);
    await withTemporary(long, async () => {
      await expect(start({ dataDir: data.path })).rejects.toThrow('set TMPDIR to a shorter folder');
      expect(await readdir(long)).toEqual([]);
    });
  });

  test('[BFF-7] answers the calls that run when it is told to stop, and ends with 0', async () => {
    await using issuer = await startTokenIssuer();
    await using folder = await temporaryDirectory();
    await using child = await spawnServer(['--data', folder.path, '--issuer', issuer.issuer, '--threads', '2']);
    await grantBuiltinTools(child.client(await issuer.sign(adminClaims)));
    const user = child.client(await issuer.sign(userClaims));
    await user.get('/api/me');
    const call = user.call('builtin:wait', { seconds: 2 });
    await using stream = await user.callStream('builtin:wait', { seconds: 2 });
    await stream.nextOf('progress');
    child.child.kill('SIGTERM');
    expect((await stream.nextOf('result')).data).toMatchObject({ status: 'completed' });
    expect((await call).json).toMatchObject({ status: 'completed' });
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(await untilSeen(() => child.log.some((line) => line.includes('stopped')))).toBe(true);
  });
});
