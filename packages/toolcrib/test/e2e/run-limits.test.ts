import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixture, fixtureRules, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { part } from '../parts.ts';
import { until } from '../running-server.ts';

const prlimit = part('prlimit');
const limits = { memory_mb: { usual: 300, most: 600 }, processes: 20, open_files: 200 };

describe.skipIf(!prlimit.available)("the operator's limits", () => {
  let server: OpenServer;
  beforeAll(async () => {
    server = await startOpenServer({ runRules: { ...fixtureRules, limits } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const register = (name: string, more: object = {}) =>
    server.admin.post('/api/sources?wait=20000', { name, mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton', ...more });

  test('[SEC-2] end a server that exceeds them; its caller and its log say so, and it comes back', async () => {
    expect((await register('Greedy')).json.status.state).toBe('running');
    // It is ended when somebody has looked: in the middle of this call, or of one that is never answered.
    const { json: filled } = await server.alice.call('greedy:fill', { mb: 500 });
    const failed = filled.status === 'completed' ? (await server.alice.call('greedy:hold', { key: 'x' })).json : filled;
    expect(failed.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.stringMatching(/may use 300 \(memory_mb\)/) });
    const { lines } = (await server.admin.get('/api/sources/greedy/logs')).json;
    expect(lines.map(({ text }: { text: string }) => text)).toContainEqual(expect.stringContaining('may use 300 (memory_mb)'));
    const opened = await until(async () => {
      const { json } = await server.alice.call('greedy:files', { count: 1000 });
      return json.status === 'completed' ? Number(json.content[0].text) : undefined;
    });
    expect(opened).toBeLessThan(200);
  });

  test('[SEC-2] can be lowered, but not raised, by a source', async () => {
    expect((await register('Modest', { mcp_process_limits: { memory_mb: 200, cpu_seconds: 60 } })).json).toMatchObject({
      status: { state: 'running' },
      definition: { process_limits: { memory_mb: 200, cpu_seconds: 60 } },
    });
    const { status, json } = await register('Immodest', { mcp_process_limits: { memory_mb: 601 } });
    expect([status, json]).toEqual([403, expect.objectContaining({ code: 'FORBIDDEN', field: 'mcp_process_limits.memory_mb' })]);
  });

  test('[SEC-2] apply to local processes, and containers have their own', async () => {
    const elsewhere = await server.admin.post('/api/sources', {
      name: 'E',
      mcp_server_url: 'https://x.example/mcp',
      mcp_process_limits: {},
    });
    const contained = await server.admin.post('/api/sources', {
      name: 'C',
      mcp_container: { image: 'x', command: ['y'] },
      mcp_process_limits: {},
    });
    for (const { status, json } of [elsewhere, contained]) expect([status, json.field]).toEqual([400, 'mcp_process_limits']);
  });
});
