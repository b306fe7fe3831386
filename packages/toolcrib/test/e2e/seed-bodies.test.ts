import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseJsonc } from '../../src/model/parse-jsonc.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startForwardProxy, type ForwardProxy } from '../fixtures/forward-proxy.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { plainPrograms } from '../fixtures/mcp/plain-programs.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { pluginDirectory } from '../mcp/registration-fixture.ts';
import { adminClaims, startServerWithIssuer } from '../running-server.ts';

/** Stands for a network of its own: whatever address it is asked for is on this machine. */
let proxy: ForwardProxy;
let server: OpenServer;
let admin: ApiClient;
beforeAll(async () => {
  proxy = await startForwardProxy();
  server = await startOpenServer({ proxy: proxy.url });
  ({ admin } = server);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

async function remove(id: string): Promise<void> {
  expect((await admin.delete(`/api/sources/${id}`)).status).toBe(204);
}

/** The examples of the documents that Toolcrib was made from, character by character. Only the plugin's directory is one that is there. */
const pluginExample = `{
  "name": "GitHub MCP",
  "url": "mcp://github-plugin",
  "source_type": "mcp",
  "mcp_plugin_dir": "/opt/mcp-plugins/github",
  "mcp_transport_type": "stdio",
  "mcp_runtime_hint": "uvx",
  "mcp_lifecycle_mode": "transient",
  "mcp_env_vars": {
    "GITHUB_TOKEN": "ghp_xxx..."
  }
}`;
const shorterPluginExample = pluginExample.replace('  "mcp_lifecycle_mode": "transient",\n', '');
const manifestExample = `{
  "name": "@modelcontextprotocol/github",
  "version": "1.0.0",
  "description": "GitHub MCP server for repository operations",
  "packages": [
    {
      "name": "default",
      "transport_type": "stdio",
      "runtime": "uvx",
      "command": ["mcp-server-github"],
      "environment_variables": [
        {
          "name": "GITHUB_TOKEN",
          "description": "GitHub Personal Access Token",
          "required": true,
          "secret": true
        }
      ]
    }
  ]
}`;
const remoteExample = `{
  "name": "CML MCP Server",
  "url": "http://cml-mcp:9000",
  "source_type": "mcp",
  "mcp_server_url": "http://cml-mcp:9000",
  "mcp_transport_type": "streamable_http",
  "mcp_env_vars": {
    "API_KEY": "optional-auth-header"  // pragma: allowlist secret
  }
}`;
const shorterRemoteExample = `{
  "name": "CML MCP Server",
  "url": "http://cml-mcp:9000",
  "source_type": "mcp",
  "mcp_server_url": "http://cml-mcp:9000",
  "mcp_transport_type": "streamable_http"
}`;

describe('the bodies of the original documents, posted unchanged', () => {
  test.each([
    ['plugin', pluginExample],
    ['shorter plugin', shorterPluginExample],
  ])('[SRC-1] [SRC-7] register a %s', async (_what, example) => {
    const directory = await pluginDirectory({ 'plugin.json': manifestExample });
    const { status, json } = await admin.post('/api/sources', JSON.parse(example.replace('/opt/mcp-plugins/github', directory)));
    expect([status, json.message]).toEqual([201, undefined]);
    expect(json.definition).toMatchObject({ command: ['uvx', 'mcp-server-github'], environment: { GITHUB_TOKEN: '***' } });
    await remove(json.id);
  });

  test.each([
    ['remote server', remoteExample],
    ['remote server without a key', shorterRemoteExample],
  ])('[SRC-1] [SEC-1] register a %s in development', async (_what, example) => {
    const { status, json } = await admin.post('/api/sources', parseJsonc(example));
    expect([status, json.message]).toEqual([201, undefined]);
    expect(json.definition).toMatchObject({ server_url: 'http://cml-mcp:9000', transport_type: 'streamable_http', allow_insecure: false });
    await remove(json.id);
  });

  test.each([
    ['Npm', { Official: { name: 'io.github/github', version: '1.0.0' } }, 'Stdio', ['npx', '-y', 'an-identifier']],
    ['Docker', { Smithery: { qualified_name: '@a/b' } }, 'Stdio', expect.arrayContaining(['docker', 'run', 'an-identifier'])],
    ['Binary', 'Manual', 'Stdio', ['an-identifier']],
    ['Http', 'Manual', { Http: { url: 'http://cml-mcp:9000' } }, []],
  ])('[SRC-2] register an McpConfig of the type %s under its own id', async (package_type, source, transport, command) => {
    const config = {
      id: '6f1c7a52-9f0e-4c53-8f5e-2b1d9b0f7a11',
      name: 'From serde',
      enabled: false,
      source,
      package: { package_type, identifier: 'an-identifier', runtime_hint: null },
      transport,
      env_vars: { API_KEY: { name: 'API_KEY', value: 's3cr3t', secret_ref: null, is_secret: true } },
      config: null,
    };
    const { status, json } = await admin.post('/api/sources', config);
    expect([status, json.message]).toEqual([201, undefined]);
    expect(json).toMatchObject({ id: config.id, enabled: false, status: { state: 'disabled' }, definition: { command } });
    expect(JSON.stringify(json)).not.toContain('s3cr3t');
    expect(await admin.post('/api/sources', { ...config, name: 'Another' })).toMatchObject({
      status: 409,
      json: { code: 'CONFLICT', field: 'id' },
    });
    await remove(config.id);
  });

  test('[SRC-2] [MC-T1] [MC-T4] [MC-T6] register an McpConfig that runs', async () => {
    const { json } = await admin.post('/api/sources?wait=30000', {
      id: '0d6d7e7e-64b5-4c2b-8a3b-0f3f6a1c2b4d',
      name: 'Runs',
      enabled: true,
      source: 'Manual',
      package: { package_type: 'Binary', identifier: join(plainPrograms, 'server.js'), runtime_hint: 'node' },
      transport: 'Stdio',
      env_vars: {},
      config: {},
    });
    expect(json.status).toMatchObject({ state: 'running' });
    expect(await server.alice.call('runs:echo', { text: 'hello' })).toMatchObject({ json: { success: true, text: 'hello' } });
    await remove(json.id);
  });

  test.each([
    ['[MC-NT3] without a name', { name: ' ' }, 'name', 'Name is required'],
    [
      '[SRC-10] without an identifier',
      { package: { package_type: 'Npm', identifier: '' } },
      'package.identifier',
      'Package identifier required',
    ],
    ['[SRC-10] without a transport', { transport: null }, 'transport', 'Transport required'],
    ['[MC-NT4] without a required value', { env_vars: { A: { name: 'A', required: true } } }, 'env_vars.A', 'Missing required credentials'],
  ])('%s are refused and not saved', async (_what, change, field, message) => {
    const config = { name: 'Bad', package: { package_type: 'Npm', identifier: 'x' }, transport: 'Stdio', enabled: false, ...change };
    const before = (await admin.get('/api/sources')).json.sources.length;
    expect(await admin.post('/api/sources', config)).toMatchObject({ status: 400, json: { code: 'VALIDATION_ERROR', field, message } });
    expect((await admin.get('/api/sources')).json.sources).toHaveLength(before);
  });
});

describe('[SEC-1] plain http to a private address', () => {
  test('works in development, for a document and its operations too', async () => {
    await using upstream = await startHttpServer((request, response) => {
      const operations = { '/x': { get: { operationId: 'x', responses: {} } } };
      const document = { openapi: '3.1.0', info: { title: 'x', version: '1' }, servers: [{ url: origin }], paths: operations };
      const body = request.url === '/openapi.json' ? document : { path: request.url };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const origin = `http://10.1.2.3:${upstream.port}`;
    const form = { name: 'Near', source_type: 'openapi', openapi: { url: `${origin}/openapi.json` } };
    const { json } = await admin.post('/api/sources?wait=30000', form);
    expect(json.status).toMatchObject({ state: 'running' });
    expect(await server.alice.call('near:x')).toMatchObject({ json: { success: true, result: { path: '/x' } } });
    await remove(json.id);
  });

  test('is refused with an issuer, unless the registration and the operator allow it', async () => {
    await using production = await startServerWithIssuer();
    const strict = await production.signedIn(adminClaims);
    const remote = { name: 'CML', mcp_server_url: 'http://10.1.2.3:9000' };
    const openapi = { name: 'API', source_type: 'openapi', openapi: { url: 'http://10.1.2.3:9000/openapi.json' } };
    for (const body of [remote, openapi]) {
      const refused = await strict.post('/api/sources', body);
      expect(refused).toMatchObject({ status: 400, json: { message: expect.stringContaining('--allow-network 10.1.2.3') } });
    }
    const named = await strict.post('/api/sources', parseJsonc(remoteExample));
    expect(named).toMatchObject({ status: 400, json: { field: 'allow_insecure', message: expect.stringContaining('plain http') } });
  });

  test('is refused for metadata services, in development too', async () => {
    const refused = await admin.post('/api/sources', { name: 'Metadata', mcp_server_url: 'http://169.254.169.254/latest' });
    expect(refused).toMatchObject({ status: 400, json: { field: 'mcp_server_url', message: expect.stringContaining('never asked') } });
  });
});
