import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endlessAnswer, startHttpServer } from '../fixtures/http-server.ts';
import { startEverything } from '../fixtures/mcp/sessions.ts';
import { fixtureRules, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { startRegistries } from '../fixtures/registry-service.ts';
import { freePort } from '../../src/net/free-port.ts';
import { startTestServer, until } from '../running-server.ts';

let registries: Awaited<ReturnType<typeof startRegistries>>;
let server: OpenServer;

beforeAll(async () => {
  registries = await startRegistries();
  server = await startOpenServer({ registries: { official: registries.origin, smithery: registries.origin } });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await registries[Symbol.asyncDispose]();
});

const airtable = { Official: { name: 'io.github.domdomegg/airtable-mcp-server', version: '1.7.3' } };
const official = (name: string, version = '1.0.0') => ({ Official: { name, version } });
const preview = async (body: object) => (await server.admin.post('/api/sources/preview', { name: 'Looked up', ...body })).json;
const register = (body: object) => server.admin.post('/api/sources', { name: 'Looked up', ...body });
const saved = async () => (await server.admin.get('/api/sources')).json.total;

describe('[SRC-2] the registration of a server from a registry', () => {
  test('takes the first package that can start here, with its variables', async () => {
    const json = await preview({ source: airtable, env_vars: { AIRTABLE_API_KEY: 'canary' } });
    expect(json).toMatchObject({
      starts: { runtime: 'npx', runs: ['airtable-mcp-server'], command: ['npx', '-y', 'airtable-mcp-server@1.7.3'] },
      missing: [],
      error: null,
      definition: {
        environment: { AIRTABLE_API_KEY: '***' },
        env_definitions: [{ name: 'AIRTABLE_API_KEY', required: true, secret: true }],
        origin: { official: airtable.Official },
        looked_up: { registry: registries.origin, name: airtable.Official.name, version: '1.7.3', deprecated: false },
      },
    });
    expect(JSON.stringify(json)).not.toContain('canary');
  });

  test('also works under `mcp`, and stores the latest version by its number', async () => {
    const json = await preview({ mcp: { source: official('io.github.domdomegg/time-mcp-pypi', 'latest') } });
    expect(json.starts.command).toEqual(['uvx', 'time-mcp-pypi@1.0.6']);
    expect(json.definition.looked_up.version).toBe('1.0.6');
  });

  test('takes the address if nothing can be started', async () => {
    const json = await preview({ source: official('io.decisionrules/mcp-server') });
    expect(json).toMatchObject({ starts: null, definition: { server_url: 'https://api.decisionrules.io/mcp', transport_type: 'sse' } });
  });

  test('takes the address from Smithery, with settings as its parameters and keys among them sealed', async () => {
    const source = { Smithery: { qualified_name: 'exa' } };
    expect(await preview({ source })).toMatchObject({ missing: ['config.exaApiKey'], error: { field: 'config.exaApiKey' } });
    const { status, json } = await register({ name: 'Exa', enabled: false, source, config: { exaApiKey: 'canary-exa' } });
    expect([status, json.definition.server_url]).toEqual([201, 'https://server.smithery.ai/exa/mcp?exaApiKey=${CONFIG_EXA_API_KEY}']);
    expect(JSON.stringify(json)).not.toContain('canary-exa');
    const memory = await preview({ source: { Smithery: { qualified_name: '@jlia0/servers' } } });
    expect(memory.definition.server_url).toBe('https://server.smithery.ai/@jlia0/servers/mcp?memoryFilePath=memory.json');
  });

  test('takes an image of another registry from that registry', async () => {
    const oci = { registryType: 'oci', registryBaseUrl: 'https://ghcr.io', identifier: 'owner/image', version: '2.0.0' };
    registries.describe({ name: 'io.github.owner/image', packages: [oci] });
    const json = await preview({ source: official('io.github.owner/image') });
    expect(json.starts.runs).toEqual(['ghcr.io/owner/image:2.0.0']);
  });
});

describe('[MC-NT4] [SRC-10] a required variable that the registry declares blocks saving', () => {
  test.each<[string, object, string]>([
    ['where everything is looked up', { source: airtable }, 'env_vars.AIRTABLE_API_KEY'],
    ['under mcp', { mcp: { source: airtable } }, 'mcp.env_vars.AIRTABLE_API_KEY'],
    [
      'in a whole McpConfig',
      {
        enabled: true,
        source: airtable,
        package: { package_type: 'Npm', identifier: 'airtable-mcp-server', runtime_hint: null },
        transport: 'Stdio',
        env_vars: {},
        config: {},
      },
      'env_vars.AIRTABLE_API_KEY',
    ],
    [
      'with an empty value',
      { source: airtable, env_vars: { AIRTABLE_API_KEY: { name: 'AIRTABLE_API_KEY', value: '', secret_ref: null, is_secret: true } } },
      'env_vars.AIRTABLE_API_KEY',
    ],
    [
      'with a secret that is not there',
      { source: airtable, env_vars: { AIRTABLE_API_KEY: { secret_ref: 'nowhere', is_secret: true } } },
      'env_vars.AIRTABLE_API_KEY',
    ],
  ])('%s', async (_what, body, field) => {
    const before = await saved();
    expect(await register(body)).toMatchObject({
      status: 400,
      json: { code: 'VALIDATION_ERROR', message: 'Missing required credentials', field },
    });
    expect(await saved()).toBe(before);
  });
});

describe('[SEC-1] [SEC-2] a registry is not trusted', () => {
  const npm = { registryType: 'npm', identifier: 'pkg', version: '1.0.0', transport: { type: 'stdio' } };
  const named = (name: string, value?: string) => ({ type: 'named', name, ...(value === undefined ? {} : { value }) });
  const variable = (name: string) => ({ ...npm, environmentVariables: [{ name, value: '--require /tmp/x.js' }] });
  test.each<[string, object, RegExp]>([
    [
      'another package beside its own',
      { packages: [{ ...npm, runtimeArguments: [named('--package', 'other')] }] },
      /something other than its package/,
    ],
    ['a command line for npx', { packages: [{ ...npm, runtimeArguments: [named('-c', 'id')] }] }, /-c/],
    ['a package from an address', { packages: [{ ...npm, identifier: 'https://x.example/p.tgz', version: undefined }] }, /not the name/],
    ['an option in place of a package', { packages: [{ ...npm, identifier: '--call=id' }] }, /./],
    ['another place for packages', { packages: [{ ...npm, registryBaseUrl: 'https://npm.x.example' }] }, /registryBaseUrl/],
    [
      'a mount of this machine',
      { packages: [{ registryType: 'oci', identifier: 'a/b', runtimeArguments: [named('-v', '/:/host')] }] },
      /./,
    ],
    [
      'a privileged container',
      { packages: [{ registryType: 'oci', identifier: 'a/b', runtimeArguments: [named('--privileged')] }] },
      /gives the container access to this machine/,
    ],
    ['a variable that runs code', { packages: [variable('NODE_OPTIONS')] }, /NODE_OPTIONS/],
    ['one that does so in some programs', { packages: [variable('PYTHONPATH')] }, /PYTHONPATH/],
    ['a secret of ours', { packages: [{ ...npm, environmentVariables: [{ name: 'A', value: '${registry.official}' }] }] }, /cannot refer/],
    ['a metadata service', { remotes: [{ type: 'streamable-http', url: 'http://169.254.169.254/latest' }] }, /./],
    ['a bundle', { packages: [{ registryType: 'mcpb', identifier: 'https://x.example/p.mcpb' }] }, /cannot be started here/],
    ['nothing at all', {}, /no package that can be started here/],
  ])('so that %s is refused, and nothing is saved', async (_what, described, words) => {
    const before = await saved();
    registries.describe({ name: 'io.github.evil/server', ...described });
    const { status, json } = await register({ source: official('io.github.evil/server') });
    expect([status, json.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(json.message).toMatch(words);
    expect(await saved()).toBe(before);
  });

  test.each<[string, (name: string) => void, string, RegExp]>([
    [
      'another server',
      (name) => registries.answer(name, (_, response) => void response.end(JSON.stringify({ server: { name: 'a/b' } }))),
      'SERVICE_UNAVAILABLE',
      /another server/,
    ],
    ['no JSON', (name) => registries.answer(name, (_, response) => void response.end('<html>')), 'SERVICE_UNAVAILABLE', /not JSON/],
    [
      'a redirect',
      (name) => registries.answer(name, (_, response) => void response.writeHead(302, { location: '/x' }).end()),
      'SERVICE_UNAVAILABLE',
      /redirect/,
    ],
    ['an answer without end', (name) => registries.answer(name, endlessAnswer().handle), 'SERVICE_UNAVAILABLE', /bytes/],
    [
      'that it failed',
      (name) => registries.answer(name, (_, response) => void response.writeHead(500).end()),
      'SERVICE_UNAVAILABLE',
      /500/,
    ],
    [
      'that it wants a token',
      (name) => registries.answer(name, (_, response) => void response.writeHead(401).end()),
      'VALIDATION_ERROR',
      /registry\.official/,
    ],
    ['that it was deleted', (name) => registries.describe({ name, packages: [npm] }, { status: 'deleted' }), 'FORBIDDEN', /deleted/],
  ])('and an answer that is %s is reported as such', async (_what, prepare, code, words) => {
    const before = await saved();
    prepare('io.github.odd/server');
    const { json } = await register({ source: official('io.github.odd/server') });
    expect(json).toMatchObject({ code, field: 'source' });
    expect(json.message).toMatch(words);
    expect(await saved()).toBe(before);
  });

  test.each([
    ['io.github.nobody/nothing', '1.0.0', /has no server io\.github\.nobody\/nothing, version 1\.0\.0/],
    ['../../etc', '1.0.0', /not the name of a server/],
    ['a/..', '1.0.0', /not the name of a server/],
    ['a/b?c', '1.0.0', /not the name of a server/],
    ['io.github.a/b', '..', /not a version/],
  ])('and a server %j, version %j, is not looked for elsewhere', async (name, version, words) => {
    const before = registries.asked.length;
    const { status, json } = await register({ source: official(name, version) });
    expect([status, json.field]).toEqual([400, 'source']);
    expect(json.message).toMatch(words);
    for (const { path } of registries.asked.slice(before)) expect(path).toMatch(/^\/v0\.1\/servers\/[^/]+\/versions\/[^/]+$/);
  });
});

test('[SRC-2] [EXEC-1] a server that was looked up can be called, and survives a restart and an update without its registry', async () => {
  const port = await freePort('127.0.0.1');
  await using _everything = await startEverything('streamableHttp', port);
  await using other = await startRegistries();
  other.describe({ name: 'io.github.us/everything', remotes: [{ type: 'streamable-http', url: `http://127.0.0.1:${port}/mcp` }] });
  await using own = await startOpenServer({ registries: { official: other.origin, smithery: null } });
  const body = { name: 'Listed', source: official('io.github.us/everything') };
  const { json } = await own.admin.post('/api/sources?wait=20000', body);
  expect(json.status).toMatchObject({ state: 'running' });
  expect((await own.alice.call('listed:echo', { message: 'hello' })).json).toMatchObject({ success: true });
  other.silence();
  expect(await own.admin.put('/api/sources/listed', { ...body, register_resources_as_tools: true })).toMatchObject({ status: 200 });
  expect((await own.admin.post('/api/sources/listed/restart', undefined)).json.status).toMatchObject({ state: 'running' });
  expect(await own.admin.post('/api/sources', { name: 'S', source: { Smithery: { qualified_name: 'exa' } } })).toMatchObject({
    status: 400,
    json: { field: 'source', message: expect.stringContaining('turned it off') },
  });
});

test('[ENV-4] a key in the address stays there, also after *** was sent back, and the registry is not asked again', async () => {
  const seen: string[] = [];
  // It lets nobody in: what it was sent is all that matters here.
  await using upstream = await startHttpServer((request, response) => {
    seen.push(request.url ?? '');
    response.writeHead(403).end();
  });
  const url = `${upstream.origin}/mcp?key={key}&team={team}`;
  const variables = { key: { isRequired: true, isSecret: true }, team: {} };
  registries.describe({ name: 'io.github.us/keyed', remotes: [{ type: 'streamable-http', url, variables }] });
  const body = { name: 'Keyed', source: official('io.github.us/keyed') };
  const { json } = await server.admin.post('/api/sources?wait=20000', { ...body, config: { key: 'canary-key' } });
  expect(JSON.stringify(json)).not.toContain('canary-key');
  expect(new Set(seen)).toEqual(new Set(['/mcp?key=canary-key']));
  const asked = registries.asked.length;
  seen.splice(0);
  expect((await server.admin.put('/api/sources/keyed', { ...body, config: { key: '***', team: 'blue' } })).status).toBe(200);
  await until(async () => seen.length > 0);
  expect(new Set(seen)).toEqual(new Set(['/mcp?key=canary-key&team=blue']));
  expect(registries.asked).toHaveLength(asked);
});

test('[SRC-2] [SRC-9] when a registry cannot be reached, the refusal says what to give instead, and that works', async () => {
  const origin = `http://127.0.0.1:${await freePort('127.0.0.1')}`;
  await using own = await startTestServer({ registries: { official: origin } });
  const admin = await own.as('admin');
  const refused = await admin.post('/api/sources', { name: 'Away', source: airtable });
  expect(refused).toMatchObject({ status: 503, json: { code: 'SERVICE_UNAVAILABLE', field: 'source' } });
  expect(refused.json.message).toContain(origin);
  expect(refused.json.message).toContain('give package and transport yourself');
  expect((await admin.get('/api/sources')).json.sources.map(({ namespace }: { namespace: string }) => namespace)).not.toContain('away');
  const whole = { package: { package_type: 'npm', identifier: 'airtable-mcp-server' }, transport: { type: 'stdio' } };
  expect(await admin.post('/api/sources', { name: 'Away', enabled: false, source: airtable, ...whole })).toMatchObject({ status: 201 });
});

test("[SEC-2] the operator's rules apply to packages that were looked up", async () => {
  const config = { registries: { official: registries.origin }, runRules: fixtureRules };
  await using own = await startTestServer(config);
  const admin = await own.as('admin');
  const body = { name: 'Ruled', source: airtable, env_vars: { AIRTABLE_API_KEY: 'x' } };
  expect(await admin.post('/api/sources', body)).toMatchObject({ status: 403, json: { message: expect.stringContaining('npx') } });
  expect((await admin.post('/api/sources/preview', body)).json.error).toMatchObject({ code: 'FORBIDDEN' });
});

test('[SRC-2] [SEC-3] a registry that wants a token gets the stored one', async () => {
  await server.admin.put('/api/secrets/registry.smithery', { value: 'canary-token' });
  await preview({ source: { Smithery: { qualified_name: 'smithery/hello-world' } } });
  expect(registries.asked.at(-1)).toMatchObject({
    path: '/servers/smithery%2Fhello-world',
    headers: { authorization: 'Bearer canary-token' },
  });
  await preview({ source: airtable });
  expect(registries.asked.at(-1)?.headers.authorization).toBeUndefined();
});
