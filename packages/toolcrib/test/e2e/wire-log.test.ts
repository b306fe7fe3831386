import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startHandmadeServer, textResult } from '../fixtures/mcp/handmade-server.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';

let server: OpenServer;
let admin: ApiClient;

interface Line {
  stream: string;
  text: string;
}

beforeAll(async () => {
  server = await startOpenServer();
  ({ admin } = server);
  const body = { name: 'Local', namespace: 'local', mcp_lifecycle_mode: 'singleton', mcp_command: fixture('plain') };
  await admin.post('/api/sources?wait=30000', { ...body, mcp_env_vars: { SERVICE_TOKEN: 'a-secret-value' } });
});

afterAll(() => server[Symbol.asyncDispose]());

const wireOf = async (source: string): Promise<Line[]> => (await admin.get(`/api/sources/${source}/logs?wire=true&lines=1000`)).json.lines;
const messages = async (source: string) => (await wireOf(source)).filter(({ stream }) => stream !== 'event');

test('[OPS-1] nothing of the wire is kept until an administrator asks for it, which is recorded', async () => {
  await server.alice.call('local:echo', { text: 'before' });
  expect(await wireOf('local')).toEqual([]);
  expect((await server.alice.request('PUT', '/api/sources/local/wire-log', { body: { enabled: true } })).status).toBe(403);
  const { status, json } = await admin.put('/api/sources/local/wire-log', { enabled: true, minutes: 5 });
  expect({ status, enabled: json.enabled }).toEqual({ status: 200, enabled: true });
  expect(json.until).toBeGreaterThan(Date.now());
  await server.alice.call('local:echo', { text: 'a question', password: 'hunter22' });
  const [sent, received] = await messages('local');
  expect(sent).toMatchObject({ stream: 'sent' });
  expect(JSON.parse(sent?.text ?? '')).toMatchObject({
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: 'a question', password: '***' } },
  });
  expect(JSON.parse(received?.text ?? '')).toMatchObject({ result: { content: [{ text: 'a question' }] } });
  await server.alice.call('local:environment');
  expect(JSON.stringify(await messages('local'))).not.toContain('a-secret-value');
  await admin.put('/api/sources/local/wire-log', { enabled: false });
  const kept = (await messages('local')).length;
  await server.alice.call('local:echo', { text: 'after' });
  expect(await messages('local')).toHaveLength(kept);
  const { json: events } = await admin.get('/api/events');
  const kinds = events.events.map(({ kind }: { kind: string }) => kind).filter((kind: string) => kind.startsWith('wire-log'));
  expect(kinds.toSorted()).toEqual(['wire-log-disabled', 'wire-log-enabled']);
});

test('[OPS-1] messages of remote servers are kept once each', async () => {
  await using remote = await startHandmadeServer({
    'tools/list': ({ result }) => result({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] }),
    'tools/call': ({ result }) => result(textResult('seen')),
  });
  await admin.post('/api/sources?wait=30000', { name: 'Remote', namespace: 'remote', mcp_server_url: remote.url });
  await admin.put('/api/sources/remote/wire-log', { enabled: true });
  await server.alice.call('remote:look');
  expect((await messages('remote')).map(({ stream }) => stream)).toEqual(['sent', 'received']);
  await admin.delete('/api/sources/remote');
});

test('[OPS-1] the wire log is bounded, however much is said', async () => {
  await admin.put('/api/sources/local/wire-log', { enabled: true });
  await server.alice.call('local:huge', { bytes: 2_000_000 });
  for (let made = 0; made < 600; made++) await server.alice.call('local:echo', { text: String(made) });
  const lines = await wireOf('local');
  expect(lines).toHaveLength(1000);
  expect(Math.max(...lines.map(({ text }) => text.length))).toBeLessThanOrEqual(8192);
  await admin.put('/api/sources/local/wire-log', { enabled: false });
});

test('[OPS-1] the built-in tools have no wire log', async () => {
  expect((await admin.put('/api/sources/builtin/wire-log', { enabled: true })).json).toMatchObject({ code: 'CONFLICT' });
  expect((await admin.put('/api/sources/nowhere/wire-log', { enabled: true })).status).toBe(404);
  expect((await admin.put('/api/sources/local/wire-log', { enabled: true, minutes: 100_000 })).status).toBe(400);
});
