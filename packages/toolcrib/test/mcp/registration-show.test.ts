import { expect, test } from 'vitest';
import { mcpDefinitionSchema } from '../../src/sources/mcp/mcp-definition.ts';
import { mcpRegistrationSchema } from '../../src/sources/mcp/registration/forms.ts';
import { hasMoved } from '../../src/sources/source-registrations.ts';
import { mergeUpdate } from '../../src/sources/mcp/registration/merge-update.ts';
import { showDefinition } from '../../src/sources/mcp/registration/show-definition.ts';
import { refusalOf, register, secretName } from './registration-fixture.ts';

const remote = {
  name: 'a',
  url: 'https://u:S0@example.com',
  mcp_server_url: 'https://mcp.example.com/mcp?api_key=S1',
  mcp_env_vars: {
    BEARER_TOKEN: 'S2',
    MCP_HEADER_REGION: 'eu',
    MCP_HEADER_SHARED: { secret_ref: 'shared-token' },
    MCP_HEADER_LATER_TOKEN: '${LATER}',
  },
  headers: { 'X-API-Key': 'S3', 'X-Region': 'eu' },
  credential: { type: 'client_credentials', token_url: 'https://auth.example.com/token', client_id: 'me', client_secret: 'S4' },
  mcp_config: {
    apiKey: 'S5',
    nested: { passwords: { secret: ['S6', 7] }, url: 'https://u:S7@x.example', region: 'eu', count: 3 },
    list: [{ token: 'S8' }],
  },
};

test('[ENV-4] no secret is shown, and everything else is', async () => {
  const { definition } = await register(remote);
  const shown = showDefinition(definition);
  expect(shown).toMatchObject({
    url: 'https://***@example.com',
    server_url: 'https://mcp.example.com/mcp?api_key=${URL_API_KEY}',
    is_remote: true,
    environment: {
      BEARER_TOKEN: '***',
      MCP_HEADER_REGION: 'eu',
      MCP_HEADER_SHARED: { secret_ref: 'shared-token' },
      MCP_HEADER_LATER_TOKEN: '${LATER}',
      URL_API_KEY: '***',
    },
    headers: { 'X-API-Key': '***', 'X-Region': 'eu' },
    credential: { type: 'client_credentials', client_id: 'me', client_secret: '***' },
    config: {
      apiKey: '***',
      nested: { passwords: { secret: ['***', '***'] }, url: '***', region: 'eu', count: 3 },
      list: [{ token: '***' }],
    },
  });
  expect(JSON.stringify(shown)).not.toMatch(/S\d/);
});

test('[ENV-4] a definition that was stored with its secrets in it does not show them either', () => {
  const definition = mcpDefinitionSchema.parse({
    server_url: 'https://x.example/?token=S1',
    environment: { A_TOKEN: { value: 'S2' }, CODE: { value: 'S3' }, EMPTY_TOKEN: { value: '' } },
    env_definitions: [{ name: 'CODE', secret: true }],
    credential: { type: 'bearer', token: { value: 'S4' } },
  });
  const shown = showDefinition(definition);
  expect(shown.environment).toEqual({ A_TOKEN: '***', CODE: '***', EMPTY_TOKEN: '' });
  expect(JSON.stringify(shown)).not.toMatch(/S\d/);
});

test('[ENV-4] a definition can be sent back as it was shown, and keeps the stored secrets', async () => {
  const { definition } = await register(remote);
  const shown = showDefinition(definition);
  const update = mcpRegistrationSchema.parse({
    name: 'a',
    mcp_server_url: shown.server_url,
    mcp_env_vars: shown.environment,
    headers: shown.headers,
    credential: shown.credential,
    mcp_config: shown.config,
  });
  const again = await register(mergeUpdate(definition, update));
  expect(again.secrets).toEqual({});
  expect(again.definition).toEqual({ ...definition, url: null });
});

test('[ENV-4] a new value replaces the stored one, and a value that is left out is deleted', async () => {
  const { definition } = await register(remote);
  const update = mcpRegistrationSchema.parse({
    name: 'a',
    mcp_server_url: 'https://mcp.example.com/mcp',
    mcp_env_vars: { BEARER_TOKEN: 'N1' },
    headers: { 'x-api-key': '***', 'X-Other': 'N2' },
  });
  const { definition: changed, secrets } = await register(mergeUpdate(definition, update));
  expect(secrets).toEqual({ BEARER_TOKEN: 'N1' });
  expect(changed.environment).toEqual({ BEARER_TOKEN: { secret_ref: secretName('BEARER_TOKEN') } });
  // The name of a header is the same in capital and small letters.
  expect(changed.headers).toEqual({ 'x-api-key': { secret_ref: secretName('header.X-API-Key') }, 'X-Other': { value: 'N2' } });
  expect(changed.credential).toEqual({ type: 'none' });
});

test('[ENV-4] the variables of a package keep their secrets too', async () => {
  const mcp = (value: string) => ({
    package: { package_type: 'npm', identifier: 'x' },
    transport: { type: 'stdio' },
    env_vars: { TOKEN: { value, is_secret: true, required: true }, LEVEL: { value: 'info', is_secret: false } },
    config: { password: value },
  });
  const { definition } = await register({ name: 'a', mcp: mcp('S1') });
  const merged = mergeUpdate(definition, mcpRegistrationSchema.parse({ name: 'a', mcp: mcp('***') }));
  const again = await register(merged);
  expect(again.definition).toEqual(definition);
  expect(again.secrets).toEqual({});
});

test.each<[string, object, string]>([
  ['a variable', { mcp_env_vars: { OTHER_TOKEN: '***' } }, 'mcp_env_vars.OTHER_TOKEN'],
  ['a variable, as an object', { mcp_env_vars: { OTHER: { value: '***' } } }, 'mcp_env_vars.OTHER'],
  ['a header', { headers: { 'X-Other': '***' } }, 'headers.X-Other'],
  ['a credential of another kind', { credential: { type: 'bearer', token: '***' } }, 'credential.token'],
  ['a part of the configuration', { mcp_config: { other: { secret: '***' } } }, 'mcp_config.other.secret'],
  ['a name that every object has', { mcp_env_vars: { constructor: '***' } }, 'mcp_env_vars.constructor'],
])('[ENV-4] *** for %s that was never stored is refused', async (_what, change, field) => {
  const { definition } = await register(remote);
  const update = mcpRegistrationSchema.parse({ name: 'a', mcp_server_url: 'https://mcp.example.com/mcp', ...change });
  const merged = async () => register(mergeUpdate(definition, update));
  expect(await refusalOf(merged())).toMatchObject({ code: 'VALIDATION_ERROR', field });
});

const elsewhere = { token_url: 'https://auth.example.org/token' };
test.each<[string, object, boolean]>([
  ['as it was', {}, false],
  ['with another path', { mcp_server_url: 'https://mcp.example.com/v2' }, false],
  ['with the usual port', { mcp_server_url: 'https://MCP.example.com:443/mcp' }, false],
  ['with another scheme', { mcp_server_url: 'http://mcp.example.com/mcp', allow_insecure: true }, true],
  ['with another host', { mcp_server_url: 'https://mcp.example.org/mcp' }, true],
  ['with another port', { mcp_server_url: 'https://mcp.example.com:8443/mcp' }, true],
  ['that is started here now', { mcp_server_url: undefined, mcp_command: ['server'], headers: undefined, credential: undefined }, true],
  ['without its credential', { credential: undefined }, false],
  ['with a credential of another kind', { credential: { type: 'bearer', token: 'x' } }, false],
  [
    'with another token endpoint on the same host',
    { credential: { ...remote.credential, token_url: 'https://auth.example.com/v2' } },
    false,
  ],
  ['with another token endpoint', { credential: { ...remote.credential, ...elsewhere } }, true],
  ['whose token endpoint is to be asked for', { credential: { ...remote.credential, token_url: undefined } }, true],
])('[ENV-4] a source %s counts as moved: %s', async (_what, change, moved) => {
  const { definition: before } = await register(remote);
  const { definition: after } = await register({ ...remote, mcp_config: undefined, ...change });
  expect(hasMoved({ source_type: 'mcp', definition: before }, after)).toBe(moved);
});

test.each<[string, object, string]>([
  ['a variable', { mcp_env_vars: { BEARER_TOKEN: '***' } }, 'mcp_env_vars.BEARER_TOKEN'],
  ['a header', { headers: { 'X-API-Key': '***' } }, 'headers.X-API-Key'],
  ['a credential', { credential: { ...remote.credential, client_secret: '***' } }, 'credential.client_secret'],
  ['a part of the configuration', { mcp_config: { apiKey: '***' } }, 'mcp_config.apiKey'],
])('[ENV-4] *** for %s is refused if it was stored for another place', async (_what, change, field) => {
  const { definition } = await register(remote);
  const update = mcpRegistrationSchema.parse({ name: 'a', mcp_server_url: 'https://mcp.example.com/mcp', ...change });
  const merged = async () => register(mergeUpdate(definition, update, { keepSecrets: false }));
  expect(await refusalOf(merged())).toMatchObject({
    code: 'VALIDATION_ERROR',
    field,
    message: expect.stringContaining('for this address'),
  });
});
