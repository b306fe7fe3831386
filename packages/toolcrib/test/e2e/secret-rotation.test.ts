import { AsyncLocalStorage } from 'node:async_hooks';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { describeSource } from '../../src/cli/describe-source.ts';
import type { ShownSource } from '../../src/cli/source-client.ts';
import { DockerEngine, inImage } from '../fixtures/docker-engine.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { processesMarked } from '../fixtures/process-table.ts';
import { part } from '../parts.ts';
import { until, untilSeen } from '../running-server.ts';

let server: OpenServer;
beforeAll(async () => {
  server = await startOpenServer();
});
afterAll(() => server[Symbol.asyncDispose]());

/** Too short to be hidden, so that the server's own words show which value it has. */
const rotate = async (name: string, value: string) => (await server.admin.put(`/api/secrets/${name}`, { value })).json;

/** A source with a secret of its own name in the variable KEY; gives what a call finds there. */
async function registered(name: string, form: object) {
  await rotate(name, 'v1');
  const { json } = await server.admin.post('/api/sources?wait=60000', { name, ...form });
  expect(json.status).toMatchObject({ state: 'running' });
  return {
    id: json.id as string,
    key: async () => (await server.alice.call(`${name}:environment`)).json.result?.KEY as string,
    pid: async () => JSON.parse((await server.alice.call(`${name}:process`)).json.content[0].text).pid as number,
  };
}
const local = (name: string, mark = '') => ({ mcp_command: fixture('plain'), mcp_env_vars: { KEY: { secret_ref: name }, MARK: mark } });

describe('a changed secret takes effect with the next call', () => {
  test('[ENV-1] of a singleton, which was the same process until then', async () => {
    const { key, pid } = await registered('single', { ...local('single'), mcp_lifecycle_mode: 'singleton' });
    const first = await pid();
    // Another secret, or the same value again, does not restart it.
    await rotate('unrelated', 'v1');
    expect(await rotate('single', 'v1')).toMatchObject({ kept_by: [] });
    expect([await key(), await pid()]).toEqual(['v1', first]);
    for (const value of ['v2', 'v3']) {
      await rotate('single', value);
      expect(await key()).toBe(value);
    }
    expect(await pid()).not.toBe(first);
  });

  test('[ENV-1] of a busy singleton, whose running calls finish on the old process', async () => {
    const mark = `BUSY_${process.pid}_${Date.now()}`;
    const { key, pid } = await registered('busy', { ...local('busy', mark), mcp_lifecycle_mode: 'singleton' });
    const first = await pid();
    const held = server.alice.call('busy:hold', { key: 'a' });
    await until(async () => (await server.alice.call('busy:held')).json.content[0].text.includes('a'));
    const slow = server.alice.call('busy:slow', { ms: 500, text: 'still here' });
    await rotate('busy', 'v2');
    expect(await key()).toBe('v2');
    expect((await slow).json).toMatchObject({ status: 'completed', content: [{ text: 'still here' }] });
    // The one that is held keeps the old process, until both are stopped.
    expect(processesMarked(mark).map((each) => each.pid)).toContain(first);
    await server.admin.post('/api/sources/busy/stop', undefined);
    expect((await held).json.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(processesMarked(mark)).toEqual([]);
  });

  test('[ENV-1] of standby processes', async () => {
    const mark = `AHEAD_${process.pid}_${Date.now()}`;
    const { key } = await registered('ahead', { ...local('ahead', mark), standby: 2 });
    await untilSeen(() => processesMarked(mark).length === 2);
    expect(await key()).toBe('v1');
    await untilSeen(() => processesMarked(mark).length === 2);
    await rotate('ahead', 'v2');
    for (let call = 0; call < 4; call++) expect(await key()).toBe('v2');
  });

  test('[ENV-1] [ENV-5] of a remote server, in the header of its requests', async () => {
    const sent = new AsyncLocalStorage<string>();
    const handler = createMcpHandler(
      () => {
        const remote = new McpServer({ name: 'remote', version: '1.0.0' }, { capabilities: { tools: {} } });
        const answer = async () => ({ content: [{ type: 'text' as const, text: sent.getStore() ?? 'none' }] });
        remote.registerTool('key', { inputSchema: z.object({}) }, answer);
        return remote;
      },
      { legacy: 'reject' },
    );
    const handle = toNodeHandler(handler);
    await using upstream = await startHttpServer((request, response) =>
      sent.run(String(request.headers['x-key']), () => void handle(request, response)),
    );
    await registered('remote', { mcp_server_url: `${upstream.origin}/mcp`, headers: { 'X-Key': { secret_ref: 'remote' } } });
    const key = async () => (await server.alice.call('remote:key')).json.content[0].text as string;
    expect(await key()).toBe('v1');
    await rotate('remote', 'v2');
    expect(await key()).toBe('v2');
    await handler.close();
  });

  const docker = part('docker');
  test.skipIf(!docker.available)('[ENV-1] [SRC-3] of a server inside a container', async () => {
    await using container = await new DockerEngine().runContainer(docker.available ? docker.url : '');
    const env = { KEY: { secret_ref: 'inside' } };
    const form = { mcp_container: { container: container.name, command: inImage.fixture('plain'), env }, mcp_lifecycle_mode: 'singleton' };
    const { key } = await registered('inside', form);
    expect(await key()).toBe('v1');
    await rotate('inside', 'v2');
    expect(await key()).toBe('v2');
  });
});

test('[ENV-1] a source that keeps the old value says so until it is restarted', async () => {
  const { id, key } = await registered('keeper', { ...local('keeper'), mcp_lifecycle_mode: 'singleton', on_secret_change: 'keep' });
  expect(await rotate('keeper', 'v2')).toMatchObject({ kept_by: ['keeper'] });
  expect(await key()).toBe('v1');
  const shown = (await server.admin.get(`/api/sources/${id}`)).json as ShownSource;
  expect(shown.outdated_secrets).toEqual(['keeper']);
  expect(describeSource(shown)).toContain('runs with the old keeper: `toolcrib sources restart keeper` uses the new value');
  const { lines } = (await server.admin.get(`/api/sources/${id}/logs`)).json;
  expect(JSON.stringify(lines)).toContain('keeper has changed. The running server keeps the old value');
  await server.admin.post(`/api/sources/${id}/restart`, undefined);
  expect([await key(), (await server.admin.get(`/api/sources/${id}`)).json.outdated_secrets]).toEqual(['v2', []]);
});
