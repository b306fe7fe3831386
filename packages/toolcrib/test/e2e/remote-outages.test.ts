import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { cuttableProxy } from '../fixtures/cuttable-proxy.ts';
import { bookPaths, documentOf } from '../fixtures/document-service.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { startHandmadeServer, textResult, type Asked } from '../fixtures/mcp/handmade-server.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { startTestServer, temporaryDirectory, until } from '../running-server.ts';

let server: OpenServer;
let admin: ApiClient;
let alice: ApiClient;

beforeAll(async () => {
  server = await startOpenServer();
  ({ admin, alice } = server);
});
afterAll(() => server[Symbol.asyncDispose]());

const eager = { restart: { maxAttempts: 2, backoffMs: 20 } };
const tools = [{ name: 'echo', inputSchema: { type: 'object' } }];
const handlers = {
  'tools/list': ({ result }: Asked) => result({ tools }),
  'tools/call': ({ result }: Asked) => result(textResult('here')),
};
const statusOf = async (namespace: string) => (await admin.get(`/api/sources/${namespace}`)).json.status;
const register = async (form: object) => (await admin.post('/api/sources?wait=30000', form)).json;

test('[SRC-9] [MCP-10] a remote server that is down at its registration comes up by itself, and until then the status shows the next try', async () => {
  await using remote = await startHandmadeServer(handlers);
  await using proxy = await cuttableProxy(remote.url);
  proxy.cut();
  const { status } = await register({ name: 'Late', mcp_server_url: proxy.url, resilience: eager });
  expect(status).toMatchObject({ state: 'error', code: 'NETWORK_ERROR', retry_at: expect.stringMatching(/^\d{4}-/) });
  // Beyond the attempts after which a process would be given up.
  const tries = new Set<string>();
  await until(async () => tries.add((await statusOf('late')).retry_at).size > 4);
  // The reason is not told again and again.
  const { lines } = (await admin.get('/api/sources/late/logs')).json;
  expect(lines.filter(({ text }: { text: string }) => text.startsWith('Failed: '))).toHaveLength(1);
  proxy.mend();
  await until(async () => (await statusOf('late')).state === 'running');
  expect(await statusOf('late')).toEqual({ state: 'running', tools: 1 });
  expect((await alice.call('late:echo')).json.text).toBe('here');
});

test('[MCP-10] [LIFE-2] a remote server that goes away later is restarting, then in error, and comes back by itself', async () => {
  await using remote = await startHandmadeServer(handlers);
  await using proxy = await cuttableProxy(remote.url);
  const resilience = { heartbeatIntervalMs: 20, staleTimeoutMs: 200, ...eager };
  await register({ name: 'Gone', mcp_server_url: proxy.url, resilience });
  proxy.cut();
  await until(async () => (await statusOf('gone')).retry_at !== undefined);
  expect(await statusOf('gone')).toMatchObject({ state: 'error', code: 'NETWORK_ERROR' });
  expect(await alice.listedNames()).not.toContain('gone:echo');
  proxy.mend();
  await until(async () => (await alice.listedNames()).includes('gone:echo'));
  expect((await alice.call('gone:echo')).json.text).toBe('here');
});

test('[MCP-10] the session of a server that hangs is reopened, and later calls wait for that', async () => {
  await using remote = await startHandmadeServer(handlers);
  await using proxy = await cuttableProxy(remote.url);
  const resilience = { heartbeatIntervalMs: 20, staleTimeoutMs: 300, startupTimeoutMs: 1000, restart: { maxAttempts: 50, backoffMs: 20 } };
  await register({ name: 'Hung', mcp_server_url: proxy.url, resilience });
  const handshakes = () => remote.requests.filter(({ method }) => method === 'initialize').length;
  expect(handshakes()).toBe(1);
  proxy.silence();
  await until(async () => (await statusOf('hung')).state === 'restarting');
  proxy.mend();
  expect((await alice.call('hung:echo')).json.text).toBe('here');
  expect(handshakes()).toBeGreaterThan(1);
});

test('[SRC-5] [SRC-9] a document that cannot be fetched at its registration is fetched as soon as it is available', async () => {
  await using place = await startHttpServer((_request, response) => void response.end(JSON.stringify(documentOf(bookPaths))));
  await using proxy = await cuttableProxy(place.origin);
  proxy.cut();
  const openapi = { url: `${proxy.url}openapi.json`, server_url: 'https://books.example.org' };
  const { status } = await register({ name: 'Books', source_type: 'openapi', openapi, resilience: eager });
  expect(status).toMatchObject({ state: 'error' });
  await until(async () => (await statusOf('books')).retry_at !== undefined);
  proxy.mend();
  await until(async () => (await statusOf('books')).state === 'running');
  expect((await statusOf('books')).tools).toBe(4);
});

test('[ERR-10] [ENV-1] a refused credential is not tried again until it changes', async () => {
  let asked = 0;
  await using remote = await startHandmadeServer({
    ...handlers,
    'server/discover'({ request, message, json }) {
      asked++;
      const isRight = request.headers.authorization === 'Bearer right';
      json({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'unknown' } }, isRight ? 404 : 401);
    },
  });
  await admin.put('/api/secrets/remote-token', { value: 'wrong' });
  const credential = { type: 'bearer', token: { secret_ref: 'remote-token' } };
  const refused = await register({ name: 'Guarded', mcp_server_url: remote.url, credential, resilience: eager });
  expect(refused).toMatchObject({ health: 'unauthenticated', status: { state: 'error', code: 'UNAUTHENTICATED' } });
  expect(refused.status).not.toHaveProperty('retry_at');
  const before = asked;
  await admin.put('/api/secrets/remote-token', { value: 'right' });
  await until(async () => (await statusOf('guarded')).state === 'running');
  expect(asked).toBe(before + 1);
});

test('[MCP-10] a missing server is retried after a restart of the gateway too', async () => {
  await using data = await temporaryDirectory();
  await using remote = await startHandmadeServer(handlers);
  await using proxy = await cuttableProxy(remote.url);
  {
    await using before = await startTestServer({ dataDir: data.path });
    await (await before.as('admin')).post('/api/sources?wait=30000', { name: 'Kept', mcp_server_url: proxy.url, resilience: eager });
  }
  proxy.cut();
  await using after = await startTestServer({ dataDir: data.path });
  const client = await after.as('admin');
  const status = async () => (await client.get('/api/sources/kept')).json.status;
  await until(async () => (await status()).retry_at !== undefined);
  proxy.mend();
  await expect.poll(status).toEqual({ state: 'running', tools: 1 });
});
