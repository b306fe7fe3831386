import { expect, test } from 'vitest';
import { fixture, startOpenServer } from '../fixtures/open-server.ts';

test('[MCP-3] a server that reads only Content-Length frames, and never writes first, is recognised once', async () => {
  await using server = await startOpenServer();
  const { admin, alice } = server;
  const { json } = await admin.post('/api/sources?wait=60000', {
    name: 'Headers',
    mcp_command: fixture('content-length-only'),
    resilience: { startupTimeoutMs: 6000 },
  });
  expect(json.status).toMatchObject({ state: 'running' });
  expect(await alice.call('headers:echo', { text: 'framed' })).toMatchObject({ json: { success: true, text: 'framed' } });
  expect((await admin.post('/api/sources/headers/restart', undefined)).json.status.state).toBe('running');
  const lines = (await admin.get('/api/sources/headers/logs')).json.lines.map(({ text }: { text: string }) => text) as string[];
  expect(lines.filter((text) => text.includes('Trying again with headers'))).toHaveLength(1);
});
