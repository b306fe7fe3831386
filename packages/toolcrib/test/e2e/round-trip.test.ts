import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startHandmadeServer } from '../fixtures/mcp/handmade-server.ts';
import { plainPrograms } from '../fixtures/mcp/plain-programs.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { temporaryDirectory, type TemporaryDirectory } from '../running-server.ts';

let server: OpenServer;
let admin: ApiClient;
let remote: Awaited<ReturnType<typeof startHandmadeServer>>;
/** A plugin directory that has a document in it too. */
let folder: TemporaryDirectory;

beforeAll(async () => {
  server = await startOpenServer();
  ({ admin } = server);
  remote = await startHandmadeServer({ 'tools/list': ({ result }) => result({ tools: [] }) });
  folder = await temporaryDirectory();
  await writeFile(join(folder.path, 'plugin.json'), JSON.stringify(manifest));
  await writeFile(join(folder.path, 'server.js'), '');
  await writeFile(join(folder.path, 'openapi.json'), JSON.stringify(document));
  await admin.put('/api/secrets/shared', { value: 'sealed-1' });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await remote[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const document = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://shop.example' }],
  paths: { '/x': { get: { operationId: 'x', responses: {} } } },
};
const workflows = { arazzo: '1.0.1', info: { title: 'W', version: '1' }, sourceDescriptions: [], workflows: [] };
const program = join(plainPrograms, 'server.js');
const manifest = {
  name: 'x',
  packages: [
    {
      name: 'default',
      transport_type: 'stdio',
      runtime: 'node',
      command: ['server.js', '--region', 'eu'],
      environment_variables: [{ name: 'A_TOKEN', required: true, secret: true }],
    },
  ],
};
const variables = { LEVEL: 'debug', A_TOKEN: 'S1', SHARED: { secret_ref: 'shared' }, PASSWORD: { value: 'S2' } };

/** Every form in which a source is registered, with a secret (S and a digit) wherever one can stand. */
const forms: Record<string, () => object> = {
  'a program': () => ({
    mcp_command: [...fixture('plain'), '--api-key', 'S3'],
    mcp_args: ['--token=S4'],
    mcp_env_vars: variables,
    mcp_cwd: '/tmp',
  }),
  'a program that is kept': () => ({
    mcp_command: fixture('plain'),
    mcp_lifecycle_mode: 'singleton',
    resilience: { requestTimeoutMs: 5000 },
  }),
  'a plugin directory': () => ({
    enabled: false,
    mcp_plugin_dir: folder.path,
    mcp_env_vars: { A_TOKEN: 'S1' },
    mcp_config: { apiKey: 'S5', a: 1 },
  }),
  'a remote server': () => ({
    url: 'https://u:S1@example.com',
    mcp_server_url: `${remote.url}?api_key=S2`,
    mcp_env_vars: { BEARER_TOKEN: 'S3', 'X-API-Key': 'S4', MCP_HEADER_X_TEAM: 'blue', 'X-Floor': '3' },
    headers: { 'X-Secret-Token': 'S5', 'X-Plain': 'p' },
  }),
  'a remote server with a credential': () => ({ mcp_server_url: remote.url, credential: { type: 'bearer', token: { value: 'S1' } } }),
  'a remote server with a user name that is one of its secrets': () => ({
    mcp_server_url: remote.url,
    credential: { type: 'basic', username: { value: 'S1', is_secret: true }, password: 'S1' },
  }),
  'a remote server for each user': () => ({
    mcp_server_url: remote.url,
    credential: { type: 'oauth', client_id: 'me', client_secret: 'S1' },
    discovery_credential: { type: 'bearer', token: 'S2' },
  }),
  'a package': () => ({
    enabled: false,
    mcp: {
      package: { package_type: 'npm', identifier: '@scope/x', version: '1.2.3', args: ['--password', 'S1'] },
      transport: { type: 'stdio' },
      env_vars: { TOKEN: { value: 'S2', is_secret: true, required: true }, LEVEL: { value: 'info' } },
      config: { password: 'S3', any: ['thing'] },
    },
    mcp_cwd: '/tmp',
  }),
  'an McpConfig': () => ({
    id: '6f1c7a52-9f0e-4c53-8f5e-2b1d9b0f7a11',
    enabled: true,
    source: 'Manual',
    package: { package_type: 'Binary', identifier: program, runtime_hint: 'node' },
    transport: 'Stdio',
    env_vars: {
      TOKEN: { name: 'TOKEN', value: 'S1', secret_ref: null, is_secret: true },
      SHARED: { name: 'SHARED', value: null, secret_ref: 'shared', is_secret: true },
    },
    config: { secret: 'S2' },
  }),
  'an McpConfig of a remote server': () => ({
    package: { package_type: 'Http', identifier: 'x', runtime_hint: null },
    transport: { Http: { url: `${remote.url}?token=S1` } },
    env_vars: [
      { name: 'API_KEY', value: 'S2' },
      { name: 'X-Team', value: 'blue' },
    ],
  }),
  'a docker package': () => ({
    enabled: false,
    package: { package_type: 'Docker', identifier: 'mcp/time', args: ['--key=S1'] },
    transport: 'Stdio',
    env_vars: { A: 'b', TOKEN: 'S2' },
    mcp_container: { network: 'bridge', limits: { memory_mb: 64 } },
  }),
  'a docker run': () => ({
    enabled: false,
    mcp_command: ['docker', 'run', '-i', '-e', 'TOKEN=S1', '-e', 'OTHER', 'mcp/time', '--token', 'S2'],
  }),
  'a container': () => ({
    enabled: false,
    mcp_container: {
      image: 'mcp/time',
      command: ['server', '--token', 'S1'],
      env: { TOKEN: 'S2', LEVEL: 'x' },
      user: 'node',
      network: 'bridge',
    },
  }),
  'an OpenAPI document at an address': () => ({
    enabled: false,
    source_type: 'openapi',
    openapi: { url: 'https://shop.example/openapi.json?key=S1', server_url: 'https://shop.example/api/', external_refs: ['./'] },
    headers: { 'X-Token': 'S2' },
    credential: { type: 'api_key', in: 'query', name: 'k', value: 'S3' },
    discovery_credential: { type: 'bearer', token: 'S4' },
  }),
  'an OpenAPI document that was pasted': () => ({
    source_type: 'openapi',
    openapi: { text: JSON.stringify(document) },
    limits: { concurrency: 2 },
  }),
  'an OpenAPI document in a file': () => ({ source_type: 'openapi', openapi: { file: join(folder.path, 'openapi.json') } }),
  'a GraphQL service that describes itself': () => ({
    enabled: false,
    source_type: 'graphql',
    graphql: { endpoint: 'https://shop.example/graphql', selection: { depth: 1 } },
    headers: { 'X-Token': 'S1' },
    credential: { type: 'bearer', token: 'S2' },
    discovery_credential: { type: 'bearer', token: 'S3' },
  }),
  'a GraphQL schema that was pasted': () => ({
    source_type: 'graphql',
    graphql: { endpoint: 'https://shop.example/graphql', text: 'type Query { a: Int }' },
  }),
  'a GraphQL schema at an address': () => ({
    enabled: false,
    source_type: 'graphql',
    graphql: { endpoint: 'https://shop.example/graphql', url: 'https://shop.example/schema.graphql?key=S1' },
  }),
  'workflows that were pasted': () => ({
    enabled: false,
    source_type: 'workflow',
    workflow: { text: JSON.stringify(workflows), sources: { shop: 'shop' } },
  }),
};

const recorded = async (id: unknown) => {
  const { events } = (await admin.get('/api/events?topic=source&limit=1000')).json as { events: { subject: string }[] };
  return events.filter(({ subject }) => subject === id);
};
/** How often it was started, by its own log. */
const started = async (id: unknown) => {
  const { lines } = (await admin.get(`/api/sources/${String(id)}/logs`)).json as { lines?: { text: string }[] };
  return (lines ?? []).filter(({ text }) => text.endsWith(' started.')).length;
};

/** Where something that was given is not there as it was. A secret is hidden in its place, and what was null need not be there. */
function missingFrom(read: unknown, given: unknown, path = ''): string[] {
  if (typeof given === 'object' && given !== null) {
    const fields = Object.entries(given).filter(([key]) => key !== 'text');
    return fields.flatMap(([key, value]) => missingFrom((read as Record<string, unknown> | undefined)?.[key], value, `${path}.${key}`));
  }
  if (typeof given !== 'string' || !/S\d/.test(given)) return (read ?? null) === given ? [] : [path];
  // Docker takes a variable that is only named from the environment it is started with.
  return typeof read === 'string' && (/\*\*\*|\$\{/.test(read) || read === given.split('=')[0]) ? [] : [path];
}

describe.each(Object.entries(forms))('[SRC-2] %s', (what, formOf) => {
  let given: object;
  let read: Record<string, unknown>;
  const put = (body: object) => admin.put(`/api/sources/${String(read['id'])}`, body);

  beforeAll(async () => {
    given = {
      name: `Of ${what}`,
      namespace: what
        .toLowerCase()
        .replaceAll(/[^a-z]+/g, '-')
        .slice(0, 32),
      ...formOf(),
    };
    const { json } = await admin.post('/api/sources?wait=30000', given);
    read = (await admin.get(`/api/sources/${json.id}`)).json;
  });

  test('[ENV-4] is read back in the form it was given in, without its secrets', () => {
    expect(read).toMatchObject({ id: expect.any(String), definition: expect.anything() });
    expect(JSON.stringify(read)).not.toMatch(/S\d/);
    expect(missingFrom(read, given)).toEqual([]);
  });

  test('can be sent back as it was read, and nothing changes', async () => {
    const before = [await recorded(read['id']), await started(read['id'])];
    const { status, json } = await put(read);
    expect([status, json.message]).toEqual([200, undefined]);
    expect({ ...json, status: 0 }).toEqual({ ...read, status: 0 });
    expect([await recorded(read['id']), await started(read['id'])]).toEqual(before);
  });

  test('can be sent back with one change, and nothing else changes', async () => {
    const { status, json } = await put({ ...read, refresh_interval_ms: 3_600_000 });
    expect([status, json.message]).toEqual([200, undefined]);
    expect(json.definition).toEqual({ ...(read['definition'] as object), refresh_interval_ms: 3_600_000 });
    expect(json.updated_at).toBeGreaterThan(read['updated_at'] as number);
    expect(await put(read)).toMatchObject({
      status: 409,
      json: { code: 'CONFLICT', message: expect.stringContaining('changed since you read it') },
    });
  });
});

test('[SRC-2] servers imported from a client can be sent back as they were read', async () => {
  const file = { mcpServers: { files: { command: fixture('plain')[0], args: fixture('plain').slice(1), env: { A_TOKEN: 'S1' } } } };
  await admin.post('/api/sources/import?wait=30000', file);
  const { json: read } = await admin.get('/api/sources/files');
  expect(read).toMatchObject({ mcp_lifecycle_mode: 'singleton', mcp_env_vars: { A_TOKEN: '***' } });
  const { result } = (await server.alice.call('files:process')).json;
  expect((await admin.put('/api/sources/files', read)).json).toMatchObject({ updated_at: read.updated_at });
  expect((await server.alice.call('files:process')).json.result).toEqual(result);
});

test('[SRC-2] the built-in tools can be sent back as they were read, and not changed', async () => {
  const { json: read } = await admin.get('/api/sources/builtin');
  expect(await admin.put('/api/sources/builtin', read)).toMatchObject({ status: 200, json: { name: read.name } });
  expect(await admin.put('/api/sources/builtin', { ...read, enabled: false })).toMatchObject({ status: 409, json: { code: 'CONFLICT' } });
});

test.each([
  ['another id', { id: '00000000-0000-4000-8000-000000000000' }, 'id'],
  ['another time of its making', { created_at: 1 }, 'created_at'],
  ['another keeper', { managed_by: 'file' }, 'managed_by'],
  ['another definition', { definition: { command: ['evil'] } }, 'definition'],
])('[SRC-2] %s is refused because it would have no effect', async (_what, change, field) => {
  const { json: read } = await admin.get('/api/sources/a-program-that-is-kept');
  const refused = await admin.put(`/api/sources/${read.id}`, { ...read, ...change });
  expect(refused).toMatchObject({ status: 400, json: { code: 'VALIDATION_ERROR', field } });
});

test.each([
  ['group', '/api/groups/few', { id: 'few', name: 'Few', selectors: [{ tags: ['time'] }], include: ['builtin:wait'] }],
  ['policy', '/api/policies/some', { id: 'some', name: 'Some', matchers: [{ path: 'sub', operator: 'exists' }], groups: ['few'] }],
])('[BFF-6] a %s can be sent back as it was read', async (topic, path, body) => {
  expect((await admin.post(path.slice(0, path.lastIndexOf('/')), body)).status).toBe(201);
  const { json: read } = await admin.get(path);
  const { json: before } = await admin.get(`/api/events?topic=${topic}`);
  expect((await admin.put(path, read)).json).toEqual(read);
  expect((await admin.get(`/api/events?topic=${topic}`)).json).toEqual(before);
  expect(await admin.put(path, { ...read, id: 'other' })).toMatchObject({ status: 400, json: { field: 'id' } });
  expect(await admin.put(path, { ...read, name: 'Renamed' })).toMatchObject({ status: 200, json: { name: 'Renamed' } });
  expect(await admin.put(path, { ...read, name: 'Again' })).toMatchObject({ status: 409, json: { code: 'CONFLICT' } });
});

test('[SRC-2] nothing else can be both read and replaced at one address', async () => {
  const { json } = await admin.get('/api/openapi.json');
  const both = Object.entries(json.paths as Record<string, object>).filter(([, item]) => 'get' in item && 'put' in item);
  expect(both.map(([path]) => path).toSorted()).toEqual(['/api/groups/{id}', '/api/policies/{id}', '/api/sources/{id}']);
});
