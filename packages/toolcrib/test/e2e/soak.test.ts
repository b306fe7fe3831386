import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { fixture, grantEverything } from '../fixtures/open-server.ts';
import { childrenOf, openFiles, processesMarked } from '../fixtures/process-table.ts';
import { devToken, type ServerProcess, spawnServer, temporaryDirectory, until, untilSeen } from '../running-server.ts';

/** Over all rounds: 1,000 calls that succeed, 200 cancelled, 200 timed out and 100 that crash their server. */
const rounds = 5;
const perRound = { succeed: 200, cancel: 40, timeOut: 40, crash: 20 };
const atOnce = 8;
/** A session that is kept costs at least 20 kB; there are 300 in a round. What is below is the noise of the collector and of caches. */
const noisePerRound = 1_000_000;
/** The kernel gives and takes memory in larger pieces. Without the nursery, which may grow. */
const residentNoisePerRound = 8_000_000;

type Call = () => Promise<void>;

/** Every kind of call in one mixed order, which is the same in each round. */
function callsOfARound(alice: ApiClient): Call[] {
  const succeed: Call = async () => {
    const text = randomUUID();
    expect((await alice.call('fresh:echo', { text })).json).toMatchObject({ success: true, text });
  };
  const crash: Call = async () => {
    const { json } = await alice.call('fresh:crash', { words: 'out of memory' });
    expect(json).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } });
    expect(json.error.message).toContain('out of memory');
  };
  // Sooner and later, so that it ends in the spawn, in the handshake and in the call.
  const timeOut = (index: number): Call => {
    return async () => {
      const { json } = await alice.call('fresh:hold', { key: 'never' }, { timeout_ms: 1 + index * 12 });
      expect(json).toMatchObject({ status: 'timed_out', error: { code: 'NETWORK_ERROR' } });
    };
  };
  const cancel: Call = async () => {
    const { json } = await alice.call('fresh:hold', { key: 'never' }, { async: true });
    expect((await alice.delete(`/api/bff/calls/${json.call_id}`)).status).toBeLessThan(300);
    await until(async () => (await alice.get(`/api/bff/calls/${json.call_id}`)).json.status === 'cancelled');
  };
  const goAway: Call = async () => {
    await using stream = await alice.callStream('fresh:begin');
    await stream.nextOf('progress');
  };
  const calls = [
    ...Array.from({ length: perRound.succeed }, () => succeed),
    ...Array.from({ length: perRound.cancel }, (_, index) => (index % 2 === 0 ? cancel : goAway)),
    ...Array.from({ length: perRound.timeOut }, (_, index) => timeOut(index)),
    ...Array.from({ length: perRound.crash }, () => crash),
  ];
  // 97 has no factor in common with their number, so every one of them has its turn.
  return calls.map((_, index) => calls[(index * 97) % calls.length] as Call);
}

async function runAll(calls: Call[]): Promise<void> {
  const waiting = [...calls];
  const worker = async () => {
    for (let call = waiting.pop(); call !== undefined; call = waiting.pop()) await call();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function memoryOf(gateway: ServerProcess): Promise<{ used: number; rss: number }> {
  const said = gateway.log.length;
  gateway.child.kill('SIGUSR2');
  const line = await until(async () => {
    await gateway.client().get('/healthz');
    return gateway.log.slice(said).find((line) => line.includes('"msg":"memory"'));
  });
  return JSON.parse(line) as { used: number; rss: number };
}

/** By how much it grows from one to the next, by least squares. */
function slope(values: number[]): number {
  const middle = (values.length - 1) / 2;
  const over = values.reduce((sum, value, index) => sum + (index - middle) * value, 0);
  return over / values.reduce((sum, _, index) => sum + (index - middle) ** 2, 0);
}

describe.skipIf(process.platform !== 'linux')('[MCP-5] [LIFE-5] 1,500 transient calls with all kinds of endings', () => {
  test('leave behind no process, no open file and no memory in any round', { timeout: 600_000 }, async () => {
    await using data = await temporaryDirectory();
    const report = new URL('../fixtures/report-memory.ts', import.meta.url).href;
    const unlimited = ['--principal-rate', '0', '--principal-concurrency', '0'];
    await using gateway = await spawnServer(['--data', data.path, ...unlimited], { NODE_OPTIONS: `--expose-gc --import ${report}` });
    const [admin, alice] = await Promise.all(['admin', 'alice'].map(async (name) => gateway.client(await devToken(gateway.url, name))));
    if (admin === undefined || alice === undefined) throw new Error('There are no clients');
    await grantEverything(admin);
    const marker = randomUUID();
    const form = { name: 'Fresh', mcp_command: fixture('plain'), mcp_env_vars: { MARKER: marker } };
    expect((await admin.post('/api/sources?wait=60000', form)).json.status.state).toBe('running');

    const pid = gateway.child.pid ?? 0;
    const files: string[][] = [];
    const memory: { used: number; rss: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      await runAll(callsOfARound(alice));
      const recorded = () => readdirSync(join(data.path, 'processes')).length;
      await untilSeen(() => processesMarked(marker).length === 0 && childrenOf(pid).length === 0 && recorded() === 0);
      files.push(openFiles(pid).sort());
      memory.push(await memoryOf(gateway));
    }
    // The first round has loaded and compiled everything.
    expect(files.map((open) => open.length)).toEqual(files.map(() => files[0]?.length));
    expect(slope(memory.slice(1).map(({ used }) => used))).toBeLessThan(noisePerRound);
    expect(slope(memory.slice(1).map(({ rss }) => rss))).toBeLessThan(residentNoisePerRound);
  });
});
