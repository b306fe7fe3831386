import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressListSchema, type AddressList } from '../../src/api.ts';
import { runToolcrib } from '../cli/run-toolcrib.ts';
import { fixture, grantEverything } from '../fixtures/open-server.ts';
import { startTestServer, type TestServer } from '../running-server.ts';
import { connectToDoor } from './connect.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  const admin = await server.as('admin');
  await grantEverything(admin);
  await admin.post('/api/sources?wait=60000', { name: 'One', mcp_command: fixture('plain') });
  await admin.post('/api/groups', { id: 'secret-group', name: 'Secret', selectors: [{ source: 'one' }] });
  await admin.post('/api/groups', { id: 'empty', name: 'Empty', selectors: [{ source: 'nothing' }] });
  const matchers = [{ path: 'preferred_username', operator: 'equals', value: 'bob' }];
  await admin.post('/api/policies', { id: 'bobs', name: 'Bobs', matchers, groups: ['secret-group', 'empty'] });
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

const addressesOf = async (username: string): Promise<AddressList['addresses']> => {
  const { status, json } = await (await server.as(username)).get('/api/bff/addresses?heaviest=3');
  expect(status).toBe(200);
  return addressListSchema.parse(json).addresses;
};

test('[DOOR-6] each address knows its tools and its weight in tokens', async () => {
  const token = (await server.running.mint?.('bob')) ?? '';
  for (const { url, tools, tokens, tokens_in_search_mode: found, heaviest } of await addressesOf('bob')) {
    await using connected = await connectToDoor({ url, era: 'modern', token });
    await connected.connect();
    const listed = (await connected.client.listTools()).tools;
    expect(tools).toBe(listed.length);
    const shown = listed.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }));
    // From four bytes to a token to five.
    const bytes = Buffer.byteLength(shown.join(''));
    expect(tokens).toBeGreaterThan(bytes / 5);
    expect(tokens).toBeLessThan(bytes / 4);
    expect(found).toBeGreaterThan(50);
    expect(found).toBeLessThan(400);
    expect(heaviest).toHaveLength(3);
    expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(heaviest.map(({ name }) => name)));
    expect(heaviest.map((tool) => tool.tokens)).toEqual(heaviest.map((tool) => tool.tokens).toSorted((a, b) => b - a));
  }
});

test('[DOOR-6] [DOOR-7] a caller sees the addresses of the groups that give them tools, and no others', async () => {
  const groupsOf = async (username: string) => (await addressesOf(username)).map(({ group }) => group);
  expect(await groupsOf('bob')).toEqual([null, 'builtin-tools', 'everything', 'secret-group']);
  expect(await groupsOf('alice')).not.toContain('secret-group');
});

test('[DOOR-6] a server whose MCP door is closed has no addresses', async () => {
  await using closed = await startTestServer({ mcpDoor: false });
  expect((await (await closed.as('alice')).get('/api/bff/addresses')).json).toEqual({ addresses: [] });
});

test('[DOOR-6] `toolcrib tools --weight` shows a table, or JSON', async () => {
  const environment = { env: { TOOLCRIB_URL: server.url } };
  const token = (await server.running.mint?.('bob')) ?? '';
  const { stdout } = await runToolcrib(['tools', '--weight', '--token', token], environment);
  expect(stdout).toContain(`${server.url}/mcp/secret-group`);
  expect(stdout).toContain('HEAVIEST TOOLS');
  const json = JSON.parse(
    (await runToolcrib(['tools', '--weight', '--json', '--limit', '2', '--token', token], environment)).stdout,
  ) as AddressList;
  expect(json.addresses[0]?.heaviest).toHaveLength(2);
}, 60_000);
