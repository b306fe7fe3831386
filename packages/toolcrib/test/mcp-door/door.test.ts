import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { fixture, grantEverything } from '../fixtures/open-server.ts';
import { startTestServer, type TestServer } from '../running-server.ts';
import { connectToDoor, type Era } from './connect.ts';

let server: TestServer;
let admin: ApiClient;
beforeAll(async () => {
  server = await startTestServer();
  admin = await server.as('admin');
  await grantEverything(admin);
  // After a call was given up, a server's questions reach nobody for a while: whose they are could not be told.
  for (const name of ['One', 'Given up']) {
    const body = { name, mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' };
    await admin.post('/api/sources?wait=60000', body);
  }
});
afterAll(() => server[Symbol.asyncDispose]());

async function tokenOf(username: string): Promise<string> {
  return (await server.running.mint?.(username)) ?? '';
}

async function enter(era: Era, path = '/mcp', username = 'alice') {
  const connected = await connectToDoor({ url: `${server.url}${path}`, era, token: await tokenOf(username) });
  await connected.connect();
  return connected;
}

describe.each(['legacy', 'modern'] as const)('the door for clients of the %s era', (era) => {
  test('[DOOR-1] [DOOR-2] lists the tools of the caller and calls one', async () => {
    await using connected = await enter(era);
    const { client } = connected;
    expect(client.getNegotiatedProtocolVersion()).toBe(era === 'modern' ? '2026-07-28' : '2025-11-25');
    const { tools } = await client.listTools();
    const { tools: listed } = (await (await server.as('alice')).get('/api/bff/tools')).json;
    expect(tools).toHaveLength(listed.length);
    expect(await client.callTool({ name: 'builtin_calculator', arguments: { expression: '6 * 7' } })).toMatchObject({
      structuredContent: { result: 42 },
    });
  });

  test('[DOOR-3] the record of a call names the door and the client', async () => {
    await using connected = await enter(era);
    const { _meta: meta } = await connected.client.callTool({ name: 'builtin_uuid', arguments: {} });
    const { calls } = (await admin.get('/api/calls?limit=1&tool=builtin:uuid')).json;
    expect(calls[0]).toMatchObject({ call_id: meta?.['toolcrib/call_id'], door: 'mcp', agent: 'a-client/1.2.3', user_name: 'alice' });
  });

  test('[DOOR-1] an address of a group has the tools of the group, under their own names where that is asked for', async () => {
    await using connected = await enter(era, '/mcp/builtin-tools?names=own');
    const { tools } = await connected.client.listTools();
    expect(tools.map(({ name }) => name)).toContain('calculator');
    expect(tools.map(({ name }) => name)).not.toContain('echo');
    const { content } = await connected.client.callTool({ name: 'calculator', arguments: { expression: '2 + 2' } });
    expect(content).toHaveLength(1);
    await expect(connected.client.callTool({ name: 'one_echo', arguments: { text: 'x' } })).rejects.toMatchObject({ code: -32_602 });
  });

  test('[DOOR-7] a group that is not there looks like one without tools for the caller', async () => {
    await using connected = await enter(era, '/mcp/no-such-group');
    expect((await connected.client.listTools()).tools).toEqual([]);
  });

  test('[DOOR-7] a tool that is not there and one that is for others look alike', async () => {
    await using connected = await enter(era);
    const call = connected.client.callTool({ name: 'nothing_such', arguments: {} });
    await expect(call).rejects.toMatchObject({ code: -32_602, message: 'Unknown tool: nothing_such' });
  });

  test('arguments that do not fit are told to the model', async () => {
    await using connected = await enter(era);
    const answer = await connected.client.callTool({ name: 'builtin_calculator', arguments: { formula: 1 } });
    expect(answer).toMatchObject({ isError: true, content: [{ type: 'text', text: expect.stringContaining('expression') }] });
  });

  test('[DOOR-5] progress reaches the client in order, before the answer', async () => {
    await using connected = await enter(era);
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void seen.push(progress);
    await connected.client.callTool({ name: 'one_progress', arguments: { steps: 4 } }, { onprogress });
    expect(seen).toEqual([1, 2, 3, 4]);
  });

  test('[DOOR-5] a question of the tool is put to the client, and its answer to the tool', async () => {
    await using connected = await enter(era);
    connected.client.setRequestHandler('elicitation/create', ({ params }) => ({
      action: 'accept',
      content: { said: (params as { message: string }).message },
    }));
    const answer = await connected.client.callTool({ name: 'one_elicit', arguments: { message: 'Where to?' } });
    expect(JSON.stringify(answer.content)).toContain('Where to?');
  });

  test('[DOOR-5] a client that offers no forms declines', async () => {
    await using connected = await connectToDoor({ url: `${server.url}/mcp`, era, token: await tokenOf('alice'), capabilities: {} });
    await connected.connect();
    const answer = await connected.client.callTool({ name: 'one_elicit', arguments: { message: 'Where to?' } });
    expect(JSON.stringify(answer.content)).toContain('decline');
  });

  test('[DOOR-5] a cancelled call ends at its source too', async () => {
    await using connected = await enter(era);
    const ending = new AbortController();
    const call = connected.client.callTool(
      { name: 'given-up_begin', arguments: {} },
      { signal: ending.signal, onprogress: () => ending.abort() },
    );
    await expect(call).rejects.toThrow('abort');
    await expect
      .poll(async () => (await admin.get('/api/calls?limit=5&tool=given-up:begin')).json.calls[0]?.status, { timeout: 20_000 })
      .toBe('cancelled');
  });

  test('[DOOR-6] with ?mode=search there are three tools, which find and call all others', async () => {
    await using connected = await enter(era, '/mcp?mode=search');
    const { client } = connected;
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'describe_tool', 'call_tool']);
    const found = await client.callTool({ name: 'search_tools', arguments: { query: 'calculate an expression', limit: 1 } });
    expect(found).toMatchObject({ structuredContent: { tools: [{ name: 'builtin_calculator' }] } });
    const described = await client.callTool({ name: 'describe_tool', arguments: { name: 'builtin_calculator' } });
    expect(described).toMatchObject({ structuredContent: { inputSchema: { required: ['expression'] } } });
    const called = await client.callTool({
      name: 'call_tool',
      arguments: { name: 'builtin_calculator', arguments: { expression: '1 + 1' } },
    });
    expect(called).toMatchObject({ structuredContent: { result: 2 } });
  });

  test('[DOOR-5] a client hears when the list of its caller has changed', async () => {
    await using connected = await enter(era);
    const heard = Promise.withResolvers<void>();
    const { client } = connected;
    client.setNotificationHandler('notifications/tools/list_changed', () => heard.resolve());
    if (era === 'modern') await client.listen({ toolsListChanged: true });
    else await delay(200);
    const { json } = await admin.post('/api/sources?wait=60000', { name: `Two ${era}`, mcp_command: fixture('plain') });
    expect(json).toMatchObject({ status: { state: 'running' } });
    await heard.promise;
  });
});

describe('a session', () => {
  test('[DOOR-4] survives a refreshed token, and is unknown with the token of another person', async () => {
    await using connected = await enter('legacy');
    const { client, credential } = connected;
    const first = credential.token;
    await delay(1100);
    credential.token = await tokenOf('alice');
    expect(credential.token).not.toBe(first);
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    credential.token = await tokenOf('bob');
    await expect(client.listTools()).rejects.toMatchObject({ status: 404 });
  });

  test('[DOOR-4] that its client has ended is unknown', async () => {
    await using connected = await enter('legacy');
    const { client, transport } = connected;
    const { sessionId } = transport;
    await transport.terminateSession();
    const response = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await tokenOf('alice')}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': String(sessionId),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect(response.status).toBe(404);
    expect(client.getProtocolEra()).toBe('legacy');
  });

  test('without a token there is none', async () => {
    const response = await fetch(`${server.url}/mcp`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain('Bearer');
  });
});
