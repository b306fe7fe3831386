import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { livingOf } from '../fixtures/mcp/start-fixture.ts';
import { startEverything } from '../fixtures/mcp/sessions.ts';
import { fixture } from '../fixtures/open-server.ts';
import { pluginDirectory } from '../mcp/registration-fixture.ts';
import { freePort } from '../../src/net/free-port.ts';
import { startTestServer, until, type TestServer } from '../running-server.ts';

let server: TestServer;
let admin: ApiClient;

beforeAll(async () => {
  server = await startTestServer({ allowedEnvironment: ['TOOLCRIB_NOT_THIS', 'PATH'] });
  admin = await server.as('admin');
});

afterAll(() => server[Symbol.asyncDispose]());

const preview = (body: object) => admin.post('/api/sources/preview', body);
const discover = (body: object) => admin.post('/api/sources/preview?discover=true', body);
const processes = () => readdir(join(server.dataDir, 'processes'));
const events = async () => (await admin.get('/api/events')).json.events as { kind: string; after: unknown }[];
/** Everything that a registration could have left behind. */
const kept = async () => ({
  sources: (await admin.get('/api/sources')).json.sources.length as number,
  secrets: (await admin.get('/api/secrets')).json.secrets.length as number,
  events: (await events()).filter(({ kind }) => kind !== 'source-previewed').length,
  processes: (await processes()).length,
});

test('[SRC-8] a preview shows what would be started, and starts and saves nothing', async () => {
  const before = await kept();
  const { status, json } = await preview({
    name: 'Tickets',
    mcp_command: ['npx', '-y', '@example/tickets@1.2.3', '--api-key', 's3cr3t-in-the-arguments'],
    mcp_env_vars: { TICKETS_TOKEN: 's3cr3t-in-the-environment', LEVEL: 'info' },
  });
  expect(status).toBe(200);
  expect(json).toMatchObject({
    name: 'Tickets',
    namespace: 'tickets',
    definition: { environment: { TICKETS_TOKEN: '***', LEVEL: 'info' }, is_remote: false },
    starts: { runtime: 'npx', runs: ['@example/tickets'], cwd: null },
    missing: [],
    tools: null,
    server: null,
    error: null,
  });
  expect(json.starts.command.slice(0, 4)).toEqual(['npx', '-y', '@example/tickets@1.2.3', '--api-key']);
  expect(JSON.stringify(json)).not.toContain('s3cr3t');
  expect(await kept()).toEqual(before);
});

test('[SRC-8] [ENV-4] a preview with discover starts the server once with the secrets of the body, which are neither kept nor shown', async () => {
  const before = await kept();
  const body = {
    name: 'Telltale',
    mcp_command: fixture('tells-environment'),
    mcp_env_vars: { A_TOKEN: 'never-to-be-seen', COLOUR: 'blue' },
  };
  const { status, json } = await discover(body);
  expect([status, json.error]).toEqual([200, null]);
  expect(json.tools.map(({ name }: { name: string }) => name)).toContain('telltale:echo');
  // The server describes one of its tools by its environment, which shows that the value has reached it.
  const { description } = json.tools.find(({ name }: { name: string }) => name === 'telltale:environment');
  expect(description).toContain('COLOUR=blue');
  expect(description).toContain('A_TOKEN=***');
  expect(json.server).toMatchObject({ name: 'fixture-tells-environment', instructions: expect.stringContaining('A_TOKEN=***') });
  expect(JSON.stringify(json)).not.toContain('never-to-be-seen');
  // [SEC-4] That it was started is on record all the same, without what it was started with.
  const [event] = await events();
  expect(event).toMatchObject({ kind: 'source-previewed', after: { name: 'Telltale', transport_type: 'stdio' } });
  expect(JSON.stringify(event)).not.toContain('s3cr3t');
  expect(await kept()).toEqual(before);
});

test('[SRC-8] a preview with discover lists the tools of a remote server, and respects the choice of tools', async () => {
  const port = await freePort('127.0.0.1');
  await using _everything = await startEverything('streamableHttp', port);
  const { json } = await discover({ name: 'Remote', mcp_server_url: `http://127.0.0.1:${port}/mcp`, tools: { include: ['echo'] } });
  expect(json).toMatchObject({ starts: null, error: null, definition: { is_remote: true }, tools: [{ name: 'remote:echo' }] });
});

test('[SRC-8] [SRC-7] a preview names variables that a manifest requires and nobody has given, and starts nothing', async () => {
  const manifest = {
    name: 'needy',
    packages: [
      {
        runtime: 'node',
        command: ['./server.js'],
        environment_variables: [
          { name: 'A_KEY', required: true, secret: true },
          { name: 'REGION', required: true },
          { name: 'COLOUR', required: false },
        ],
      },
    ],
  };
  const mcp_plugin_dir = await pluginDirectory({ 'plugin.json': manifest, 'server.js': 'process.exit(1)' });
  const missing = ['mcp_env_vars.A_KEY', 'mcp_env_vars.REGION'];
  const error = { code: 'VALIDATION_ERROR', message: 'Missing required credentials', field: missing[0] };
  expect((await discover({ name: 'Needy', mcp_plugin_dir })).json).toMatchObject({ missing, error, tools: null });
  const given = { A_KEY: '${NOT_THERE}', REGION: '${PATH}' };
  expect((await preview({ name: 'Needy', mcp_plugin_dir, mcp_env_vars: given })).json).toMatchObject({ missing: ['mcp_env_vars.A_KEY'] });
  // [SRC-10] [ENV-2] And what a preview calls missing is refused when it is registered.
  const refused = await admin.post('/api/sources', { name: 'Needy', mcp_plugin_dir, mcp_env_vars: given });
  expect([refused.status, refused.json]).toEqual([400, { ...error, field: 'mcp_env_vars.A_KEY' }]);
});

test('[SRC-8] [NAME-2] a preview reports a namespace that is taken', async () => {
  const { json } = await discover({ name: 'Builtin', mcp_command: fixture('plain') });
  expect(json).toMatchObject({ namespace: 'builtin', tools: null, error: { code: 'CONFLICT', field: 'namespace' } });
});

test.each([
  ['that dies', ['crash-handshake', '3', 'no licence'], { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('no licence') }],
  ['that says nothing', ['hang-handshake'], { code: 'NETWORK_ERROR', message: expect.stringMatching(/^Handshake timed out/) }],
  ['that never lists its tools', ['hang-list'], { code: 'NETWORK_ERROR' }],
])('[SRC-8] a preview of a server %s reports the reason, and leaves nothing behind', async (_what, mode, error) => {
  const before = await kept();
  const body = { name: 'Bad', mcp_command: fixture(...mode), resilience: { startupTimeoutMs: 1500, requestTimeoutMs: 60_000 } };
  expect((await discover(body)).json).toMatchObject({ tools: null, error });
  expect(await kept()).toEqual(before);
});

test('[SRC-8] a preview refuses what the registration would refuse', async () => {
  expect(await preview({ mcp_command: fixture('plain') })).toMatchObject({
    status: 400,
    json: { field: 'name', message: 'Name is required' },
  });
  expect(await preview({ name: 'X' })).toMatchObject({ status: 400, json: { code: 'VALIDATION_ERROR' } });
  expect(await preview({ name: 'X', mcp_command: ['sh', '-c', 'id'] })).toMatchObject({ status: 400 });
});

test('[SRC-8] [SEC-2] a preview is refused for anyone but administrators', async () => {
  const alice = await server.as('alice');
  expect((await alice.post('/api/sources/preview?discover=true', { name: 'X', mcp_command: fixture('plain') })).status).toBe(403);
});

test('[SRC-8] a caller who leaves ends the server that was started for the preview', async () => {
  const leave = new AbortController();
  const asked = fetch(`${server.url}/api/sources/preview?discover=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Left', mcp_command: fixture('hang-handshake') }),
    signal: leave.signal,
  }).catch(() => 'left');
  const [record = ''] = await until(async () => {
    const found = await processes();
    return found.length > 0 && found;
  });
  leave.abort();
  expect(await asked).toBe('left');
  await until(async () => (await processes()).length === 0);
  expect(livingOf([Number.parseInt(record, 10)])).toEqual([]);
});
