import { randomUUID } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { fixture, grantEverything } from '../fixtures/open-server.ts';
import { childrenOf, isLiving, openFiles, processesMarked } from '../fixtures/process-table.ts';
import { devToken, spawnServer, temporaryDirectory, until, untilSeen } from '../running-server.ts';

/** [LIFE-5] The contract: six seconds after a stop nothing is left. */
const longestEndMs = 6000;

/** A real `toolcrib serve` on this data, whose servers all carry a mark in their environment. */
async function serve(dataDir: string) {
  const server = await spawnServer(['--data', dataDir, '--principal-rate', '0', '--principal-concurrency', '0']);
  const client = async (name: string) => server.client(await devToken(server.url, name));
  const [admin, alice] = await Promise.all([client('admin'), client('alice')]);
  return { server, pid: server.child.pid ?? 0, admin, alice, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

async function startGateway() {
  const data = await temporaryDirectory();
  const gateway = await serve(data.path);
  await grantEverything(gateway.admin);
  const marker = randomUUID();
  return {
    ...gateway,
    data: data.path,
    marked: () => processesMarked(marker),
    register: (form: object, wait = 60_000) =>
      gateway.admin.post(`/api/sources?wait=${wait}`, { mcp_lifecycle_mode: 'singleton', mcp_env_vars: { MARKER: marker }, ...form }),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      // Whatever the test has left alive after the gateway was killed.
      for (const { pid } of processesMarked(marker)) process.kill(pid, 'SIGKILL');
      await data[Symbol.asyncDispose]();
    },
  };
}

async function statesOf(admin: ApiClient): Promise<string[]> {
  const { sources } = (await admin.get('/api/sources')).json;
  return sources.flatMap((source: { namespace: string; status: { state: string } }) =>
    source.namespace === 'builtin' ? [] : [source.status.state],
  );
}

const named = (name: string, ...mode: string[]) => ({ name, mcp_command: fixture(...mode) });

describe.skipIf(process.platform !== 'linux')('the processes of a gateway', () => {
  test('[LIFE-4] [LIFE-5] that ignore SIGTERM and fork are gone within six seconds of a stop', async () => {
    await using gateway = await startGateway();
    await gateway.register(named('Hydra', 'forks', '3', 'stubborn'));
    await untilSeen(() => gateway.marked().length === 4);
    const stopped = gateway.admin.post('/api/sources/hydra/stop', undefined);
    await untilSeen(() => gateway.marked().length === 0, longestEndMs);
    expect((await stopped).json.status).toEqual({ state: 'stopped' });
    expect(readdirSync(join(gateway.data, 'processes'))).toEqual([]);
  });

  test('[LIFE-5] that was killed with twenty servers running are gone after its next start', { timeout: 360_000 }, async () => {
    await using gateway = await startGateway();
    const modes = [['plain'], ['stubborn'], ['forks', '2', 'stubborn'], ['talks-on']];
    await Promise.all(Array.from({ length: 20 }, (_, index) => gateway.register(named(`S${index}`, ...(modes[index % 4] ?? [])))));
    expect(await statesOf(gateway.admin)).toEqual(Array.from({ length: 20 }, () => 'running'));
    const old = gateway.marked();
    expect(old.length).toBeGreaterThanOrEqual(30);
    gateway.server.child.kill('SIGKILL');
    await gateway.server.ended;

    await using next = await serve(gateway.data);
    expect(old.filter(isLiving)).toEqual([]);
    await until(async () => (await statesOf(next.admin)).every((state) => state === 'running'), 60_000);
    expect(gateway.marked().length).toBe(old.length);
    await Promise.all(modes.map((_, index) => next.admin.post(`/api/sources/s${index}/stop`, undefined)));
  });

  test('[MCP-5] are one per singleton, even if fifty first calls race', async () => {
    await using gateway = await startGateway();
    await gateway.register(named('One', 'plain'));
    gateway.server.child.kill('SIGKILL');
    await gateway.server.ended;
    // A gateway that has just begun knows the tools from before, and the server is only being started.
    await using next = await serve(gateway.data);
    const answers = await Promise.all(Array.from({ length: 50 }, () => next.alice.call('one:process')));
    expect(new Set(answers.map(({ json }) => json.result?.pid)).size).toBe(1);
    expect(gateway.marked()).toHaveLength(1);

    // And when it is lost, all of them join the one restart.
    process.kill(gateway.marked()[0]?.pid as number, 'SIGKILL');
    await until(async () => (await statesOf(next.admin))[0] === 'restarting');
    const again = await Promise.all(Array.from({ length: 50 }, () => next.alice.call('one:process')));
    expect(new Set(again.map(({ json }) => json.result?.pid)).size).toBe(1);
    expect(gateway.marked()).toHaveLength(1);
  });

  test('[LIFE-4] are gone when their source is deleted or changed, even in the middle of calls', async () => {
    await using gateway = await startGateway();
    for (const mcp_lifecycle_mode of ['transient', 'singleton']) {
      const form = { ...named('Busy', 'plain'), mcp_lifecycle_mode };
      await gateway.register(form);
      const calls = async (gone: () => Promise<unknown>) => {
        const streams = await Promise.all([1, 2, 3].map(() => gateway.alice.callStream('busy:begin')));
        await Promise.all(streams.map((stream) => stream.nextOf('progress')));
        const before = gateway.marked();
        await gone();
        expect(before.filter(isLiving)).toEqual([]);
        for (const stream of streams) {
          expect((await stream.nextOf('result')).data).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } });
          await stream[Symbol.asyncDispose]();
        }
      };
      await calls(() => gateway.admin.put('/api/sources/busy', { ...form, mcp_env_vars: { MARKER: '***', OTHER: 'x' } }));
      await until(async () => (await statesOf(gateway.admin))[0] === 'running');
      await calls(() => gateway.admin.delete('/api/sources/busy'));
      await untilSeen(() => gateway.marked().length === 0);
    }
  });

  test('[LIFE-8] that hang, crash or do not exist hold up none of the others', async () => {
    await using gateway = await startGateway();
    const ten = (form: (index: number) => object) => Array.from({ length: 10 }, (_, index) => gateway.register(form(index), 0));
    await Promise.all([
      ...ten((index) => named(`Hangs ${index}`, 'hang-handshake')),
      ...ten((index) => named(`Crashes ${index}`, 'crash-handshake')),
      ...ten((index) => ({ name: `None ${index}`, mcp_command: [`/no/such/program-${index}`] })),
      ...ten((index) => named(`Well ${index}`, 'plain')),
    ]);
    for (let index = 0; index < 10; index++) {
      const answer = await until(async () => {
        const { status, json } = await gateway.alice.call(`well-${index}:echo`, { text: 'well' });
        return status === 200 && (json.text as string);
      });
      expect(answer).toBe('well');
    }
    const counted = Object.groupBy(await statesOf(gateway.admin), (state) => state);
    // They are still being waited for, and nobody else has waited for them.
    expect(counted['starting']).toHaveLength(10);
    await until(async () => (await statesOf(gateway.admin)).filter((state) => state === 'error').length === 20);
  });

  test('[LIFE-8] can be a hundred, started at once and stopped at once', { timeout: 360_000 }, async () => {
    await using gateway = await startGateway();
    await Promise.all(Array.from({ length: 100 }, (_, index) => gateway.register(named(`S${index}`, 'plain'), 120_000)));
    expect(await statesOf(gateway.admin)).toEqual(Array.from({ length: 100 }, () => 'running'));
    expect(gateway.marked()).toHaveLength(100);
    gateway.server.child.kill('SIGTERM');
    expect(await gateway.server.ended).toEqual({ code: 0, signal: null });
    expect(gateway.marked()).toEqual([]);
  });
});

describe.skipIf(process.platform !== 'linux')('a gateway survives a server that', () => {
  test('[MCP-3] writes 100 MB without a line break, or floods its standard error', async () => {
    await using gateway = await startGateway();
    await gateway.register({ ...named('Flood', 'plain'), resilience: { restart: { maxAttempts: 5, backoffMs: 10 } } });
    await gateway.register(named('Chatty', 'flood-stderr'));
    await gateway.register(named('Well', 'plain'));
    const flooded = gateway.alice.call('flood:flood', { bytes: 100_000_000 });
    for (let time = 0; time < 20; time++) expect((await gateway.alice.call('well:echo', { text: 'well' })).json.text).toBe('well');
    expect((await flooded).json).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } });
    expect((await gateway.alice.call('flood:echo', { text: 'dry' })).json.text).toBe('dry');
    expect((await gateway.alice.call('chatty:echo', { text: 'heard' })).json.text).toBe('heard');
    const { lines } = (await gateway.admin.get('/api/sources/chatty/logs?lines=1000')).json;
    expect(JSON.stringify(lines).length).toBeLessThan(1_000_000);
    await gateway.admin.delete('/api/sources/chatty');
  });

  test('cannot be started at all, and leaves no file open however often it is tried', async () => {
    await using gateway = await startGateway();
    await gateway.register({ name: 'None', mcp_command: ['/no/such/program'] });
    await gateway.register({ name: 'Directory', mcp_command: ['/tmp'] });
    await gateway.register(named('Crashes', 'crash-handshake'));
    const tryAll = () =>
      Promise.all(['none', 'directory', 'crashes'].map((id) => gateway.admin.post(`/api/sources/${id}/start`, undefined)));
    for (const { status } of await tryAll()) expect(status).toBeGreaterThanOrEqual(400);
    const before = openFiles(gateway.pid).length;
    for (let time = 0; time < 20; time++) await tryAll();
    expect(openFiles(gateway.pid)).toHaveLength(before);
    expect(gateway.marked()).toEqual([]);
  });

  test('is a shell script and leaves children, which end with it and are reaped', async () => {
    await using gateway = await startGateway();
    const script = join(gateway.data, 'start.sh');
    const words = fixture('forks', '2').map((word) => `'${word}'`);
    writeFileSync(script, `#!/bin/sh\n${words.join(' ')}\nexit $?\n`, { mode: 0o755 });
    expect((await gateway.register({ name: 'Script', mcp_command: [script] })).json).toMatchObject({ status: { state: 'running' } });
    await untilSeen(() => gateway.marked().length === 4);
    await gateway.admin.post('/api/sources/script/stop', undefined);
    expect(gateway.marked()).toEqual([]);
    expect(childrenOf(gateway.pid)).toEqual([]);
  });
});
