import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixture, grantEverything } from '../fixtures/open-server.ts';
import { startTestServer, type TestServer } from '../running-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  const admin = await server.as('admin');
  await grantEverything(admin);
  await admin.post('/api/sources?wait=60000', { name: 'One', mcp_command: fixture('plain') });
});
afterAll(() => server[Symbol.asyncDispose]());

/** The data of the events that a client of this revision gets with the answer to a call. */
async function eventsOfCall(protocolVersion: string): Promise<string[]> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${await server.running.mint?.('alice')}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const post = (method: string, params: object) =>
    fetch(`${server.url}/mcp`, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
  const clientInfo = { name: 'a-client', version: '1.0.0' };
  const opened = await post('initialize', { protocolVersion, capabilities: {}, clientInfo });
  expect(await opened.json()).toMatchObject({ result: { protocolVersion } });
  headers['mcp-session-id'] = String(opened.headers.get('mcp-session-id'));
  const call = await post('tools/call', { name: 'one_progress', arguments: { steps: 2 }, _meta: { progressToken: 'steps' } });
  expect(call.headers.get('content-type')).toContain('text/event-stream');
  return [...(await call.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data);
}

test.each(['2025-03-26', '2025-06-18'])('[DOOR-2] a stream of the revision %s has no event without data', async (version) => {
  const events = (await eventsOfCall(version)).map((data) => JSON.parse(data) as object);
  expect(events.at(-1)).toHaveProperty('result');
  expect(events).toHaveLength(3);
});

test('[DOOR-2] a stream of the revision 2025-11-25 begins with an id to come back with', async () => {
  const [first, ...others] = await eventsOfCall('2025-11-25');
  expect(first).toBe('');
  expect(others).toHaveLength(3);
});
