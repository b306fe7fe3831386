import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readlinkSync, readdirSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createIsolation, type IsolatedWork, type Isolation, type IsolationOptions } from '../../src/isolation/isolation.ts';
import { temporaryDirectory } from '../running-server.ts';

const program = new URL('../fixtures/isolated-program.ts', import.meta.url);
let isolation: Isolation;
afterEach(() => isolation.close());

const workOf = (task: object): IsolatedWork => ({
  program,
  input: task,
  inputBytes: 1,
  memoryLimitMb: 64,
  mostOutputBytes: 1_000_000,
  timeLimitMs: 50_000,
  caller: 'alice',
  signal: new AbortController().signal,
  onMessage: () => undefined,
});

function isolated(options: IsolationOptions = {}) {
  isolation = createIsolation(options);
  return (task: object, more: Partial<IsolatedWork> = {}) => isolation.run({ ...workOf(task), ...more });
}

/** Resolves with the process of the next work that says it. */
function announced() {
  const said = Promise.withResolvers<number>();
  return { pid: said.promise, onMessage: (message: unknown) => said.resolve((message as { pid: number }).pid) };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('[SEC-1] a program that reads hostile input', () => {
  test('has none of our environment, files, descriptors or programs', async () => {
    await using folder = await temporaryDirectory();
    const path = join(folder.path, 'keys.json');
    await writeFile(path, 'secret');
    process.env['TOOLCRIB_TEST_CANARY'] = 'secret';
    const said: unknown[] = [];
    await expect(isolated()({ do: 'look', path }, { onMessage: (message) => said.push(message) })).resolves.toEqual({ how: 'finished' });
    const denied = 'ERR_ACCESS_DENIED';
    expect(said.at(-1)).toEqual({ environment: {}, read: denied, write: denied, spawn: denied, descriptors: denied });
    expect(readFileSync(path, 'utf8')).toBe('secret');
  });

  test.skipIf(process.platform !== 'linux')('shares no file with us', async () => {
    await using folder = await temporaryDirectory();
    await using held = await open(join(folder.path, 'open'), 'w');
    const { pid, onMessage } = announced();
    const waiting = isolated()({ do: 'wait' }, { onMessage });
    const fds = `/proc/${await pid}/fd`;
    const files = readdirSync(fds).map((fd) => readlinkSync(join(fds, fd)));
    expect(held.fd).toBeGreaterThan(2);
    expect(files.filter((file) => file.startsWith('/') && !file.startsWith('/dev/'))).toEqual([]);
    void isolation.close();
    await expect(waiting).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  test.for([
    ['objects that take forty times their text', { do: 'heap', bytes: 9_000_000 }],
    ['memory outside of the heap', { do: 'buffers' }],
  ] as const)('is ended if it takes too much memory: %s', async ([, task]) => {
    await expect(isolated()(task)).resolves.toEqual({ how: 'memory' });
  });

  test.for([
    ['in small pieces', 50_000],
    ['in one piece', 2_000_000],
  ] as const)('is ended if it writes too much, %s', async ([, bytes]) => {
    await expect(isolated()({ do: 'say', bytes })).resolves.toEqual({ how: 'output' });
  });

  test('is given up at its time limit, even before it is gone', async () => {
    const run = isolated({ atOnce: 1 });
    const seen: string[] = [];
    const spinning = run({ do: 'spin' }, { timeLimitMs: 300 }).then((outcome) => seen.push(outcome.how));
    // Another one begins when the first is gone.
    const next = run({ do: 'nothing' }, { onPlace: (place) => seen.push(place === 0 ? 'next begins' : 'next waits') });
    await Promise.all([spinning, next]);
    expect(seen).toEqual(['next waits', 'time', 'next begins']);
  });

  test('is ended when its caller leaves', async () => {
    const leaving = new AbortController();
    const { pid, onMessage } = announced();
    const spinning = isolated()({ do: 'spin' }, { onMessage, signal: leaving.signal });
    const left = await pid;
    leaving.abort(new Error('gone'));
    await expect(spinning).rejects.toThrow('gone');
    await expect.poll(() => isAlive(left), { timeout: 30_000 }).toBe(false);
  });

  test.skipIf(process.platform === 'win32').for(['spin', 'wait'])('does not outlive a gateway that is killed: %s', async (what) => {
    isolation = createIsolation();
    const gateway = spawn(process.execPath, [join(import.meta.dirname, '../fixtures/isolating-gateway.ts'), what], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [pid] = (await once(gateway.stdout, 'data')) as [Buffer];
    const left = Number(pid.toString());
    expect(isAlive(left)).toBe(true);
    gateway.kill('SIGKILL');
    await expect.poll(() => isAlive(left), { timeout: 30_000 }).toBe(false);
  });
});

describe('[SEC-1] waiting programs', () => {
  test('run a few at a time, take turns, and know their place', async () => {
    const run = isolated({ atOnce: 1 });
    const { pid, onMessage } = announced();
    const first = new AbortController();
    const busy = run({ do: 'wait' }, { onMessage, signal: first.signal }).catch((error: unknown) => error);
    await pid;
    const places: Record<string, number[]> = {};
    const order: string[] = [];
    const waiting = ['alice', 'alice', 'bob'].map(async (caller, index) => {
      const name = `${caller} ${index}`;
      const told: number[] = (places[name] = []);
      await run({ do: 'nothing' }, { caller, onPlace: (place) => told.push(place), onMessage: () => order.push(name) });
    });
    expect(places).toEqual({ 'alice 0': [1], 'alice 1': [2, 3], 'bob 2': [2] });
    first.abort(new Error('enough'));
    await Promise.all([busy, ...waiting]);
    expect(order).toEqual(['alice 0', 'bob 2', 'alice 1']);
    expect(places).toEqual({ 'alice 0': [1, 0], 'alice 1': [2, 3, 2, 1, 0], 'bob 2': [2, 1, 0] });
  });

  test('are refused if they are too many or hold too much, and can leave', async () => {
    const run = isolated({ atOnce: 1, mostWaiting: 4, mostWaitingBytes: 100 });
    const { pid, onMessage } = announced();
    const all = new AbortController();
    const { signal } = all;
    const one = (more: Partial<IsolatedWork> = {}) => run({ do: 'wait' }, { signal, ...more }).catch((error: unknown) => error);
    const started = [one({ onMessage })];
    await pid;
    const leaving = new AbortController();
    started.push(one(), one({ signal: leaving.signal, inputBytes: 99 }));
    const refused = { code: 'RATE_LIMITED', retryAfterMs: 10_000, message: expect.stringContaining('2 documents are waiting') };
    expect(await one()).toMatchObject(refused);
    expect(await one({ caller: 'bob' })).toMatchObject(refused);
    leaving.abort(new Error('left'));
    expect(await started[2]).toEqual(new Error('left'));
    const place = Promise.withResolvers<number>();
    started.push(one({ caller: 'bob', onPlace: place.resolve }));
    expect(await place.promise).toBe(2);
    all.abort(new Error('over'));
    expect(await Promise.all(started)).toEqual([new Error('over'), new Error('over'), new Error('left'), new Error('over')]);
  });
});
