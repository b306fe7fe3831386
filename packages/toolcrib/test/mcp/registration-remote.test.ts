import { describe, expect, test } from 'vitest';
import { checkAddress } from '../../src/net/check-address.ts';
import { mcpRegistrationSchema } from '../../src/sources/mcp/registration/forms.ts';
import { mergeUpdate } from '../../src/sources/mcp/registration/merge-update.ts';
import { resolveHeaders } from '../../src/sources/upstream/environment.ts';
import { refusalOf, register, secretName } from './registration-fixture.ts';

const remote = { name: 'a', mcp_server_url: 'https://mcp.example.com/mcp' };
const asPackage = (env_vars: object) => ({
  name: 'a',
  package: { package_type: 'Http', identifier: 'x' },
  transport: { Http: { url: 'https://mcp.example.com/mcp' } },
  env_vars,
});

/** What would be sent with these variables. */
async function sent(body: object): Promise<Record<string, string>> {
  const { definition, secrets } = await register(body);
  const stored = new Map(Object.entries(secrets).map(([variable, value]) => [secretName(variable), value]));
  const get = async (name: string) => {
    const value = stored.get(name);
    return value === undefined ? undefined : { reveal: () => value };
  };
  const input = {
    secrets: { get },
    sourceId: '0b5c7f0e-3a54-4c3e-9d58-5a1f6c1d2e3f',
    allowedNames: new Set<string>(),
    baseEnvironment: {},
  };
  return (await resolveHeaders(definition, input as unknown as Parameters<typeof resolveHeaders>[1])).headers;
}

describe('the variables of a remote server', () => {
  test.each<[string, object, object]>([
    ['BEARER_TOKEN', { BEARER_TOKEN: 't' }, { Authorization: 'Bearer t' }],
    ['API_KEY', { API_KEY: 'k' }, { 'X-API-Key': 'k' }],
    ['MCP_HEADER_', { MCP_HEADER_X_TEAM: 'blue' }, { 'X-TEAM': 'blue' }],
    ['the name of a header', { 'X-API-Key': 'k', 'X-Team': 'blue' }, { 'X-API-Key': 'k', 'X-Team': 'blue' }],
    ['a header without a hyphen', { Authorization: 'Basic abc', Cookie: 'a=b' }, { Authorization: 'Basic abc', Cookie: 'a=b' }],
    ['a name that a header names', { TEAM: 'blue', 'X-Team': '${TEAM}' }, { 'X-Team': 'blue' }],
  ])('[SRC-1] [ENV-5] are sent as headers: %s', async (_what, mcp_env_vars, headers) => {
    expect(await sent({ ...remote, mcp_env_vars })).toEqual(headers);
    expect(await sent(asPackage(mcp_env_vars))).toEqual(headers);
  });

  test('[SRC-1] are filled in where the address names them', async () => {
    const { definition } = await register({
      name: 'a',
      mcp_server_url: 'https://x.example/${TENANT}/mcp',
      mcp_env_vars: { TENANT: 'acme' },
    });
    expect(definition.environment).toEqual({ TENANT: { value: 'acme' } });
  });

  test('[ENV-4] are sealed if they are keys named as headers, and kept by ***', async () => {
    const body = { ...remote, mcp_env_vars: { 'X-API-Key': 'S1' } };
    const { definition, secrets } = await register(body);
    expect(secrets).toEqual({ 'header.X-API-Key': 'S1' });
    const again = mcpRegistrationSchema.parse({ ...remote, mcp_env_vars: { 'X-API-Key': '***' } });
    expect((await register(mergeUpdate(definition, again))).definition).toEqual(definition);
  });

  test('[ENV-5] give way to an explicit header', async () => {
    expect(await sent({ ...remote, headers: { 'x-team': 'red' }, mcp_env_vars: { 'X-Team': 'blue' } })).toEqual({ 'x-team': 'red' });
  });

  test.each<[string, object, string, RegExp]>([
    ['of any other name', { GITHUB_TOKEN: 't' }, 'GITHUB_TOKEN', /would have no effect.*BEARER_TOKEN.*MCP_HEADER_GITHUB_TOKEN/],
    ['that names only itself', { REGION: '${REGION}' }, 'REGION', /would have no effect/],
    ['that is a header of the connection', { 'Content-Length': '1' }, 'Content-Length', /belongs to the connection/],
    ['with a line break', { 'X-Team': 'a\nb' }, 'X-Team', /line break/],
    ['that is sent already', { API_KEY: 'a', 'X-API-Key': 'b' }, 'X-API-Key', /API_KEY and X-API-Key are the same header/],
    ['that is sent already, in other letters', { MCP_HEADER_X_TEAM: 'a', 'x-team': 'b' }, 'x-team', /are the same header/],
  ])('[SRC-1] are refused with what to write: %s', async (_what, mcp_env_vars, name, message) => {
    for (const [body, field] of [
      [{ ...remote, mcp_env_vars }, 'mcp_env_vars'],
      [asPackage(mcp_env_vars), 'env_vars'],
    ] as const) {
      const refusal = await refusalOf(register(body));
      expect(refusal).toMatchObject({ code: 'VALIDATION_ERROR', field: `${field}.${name}` });
      expect(refusal.message).toMatch(message);
    }
  });
});

test("[SEC-1] [ID-4] a caller's own token is never sent over plain http, even where that is allowed", async () => {
  const lenient = { checkAddress: (url: string | URL) => checkAddress(url, true) };
  const body = { name: 'a', mcp_server_url: 'http://cml-mcp:9000' };
  expect((await register(body, lenient)).definition).toMatchObject({ server_url: 'http://cml-mcp:9000', allow_insecure: false });
  expect(await refusalOf(register({ ...body, credential: { type: 'caller_token' } }, lenient))).toMatchObject({ field: 'credential' });
});
