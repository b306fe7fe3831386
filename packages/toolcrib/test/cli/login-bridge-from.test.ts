import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseCommandLine } from '../../src/cli/parse-command-line.ts';
import { withConfigFile } from '../../src/cli/read-config-file.ts';
import { serveConfig } from '../../src/cli/serve-config.ts';
import { serve } from '../../src/cli/serve.ts';
import { clientProof } from '../../src/login-bridge/client-secret.ts';
import { temporaryDirectory } from '../running-server.ts';

function givenFor(args: string[], env: Record<string, string> = {}) {
  const given = parseCommandLine(serve, args, env);
  if (given === 'help') throw new Error('Nobody asked for help');
  return given;
}
const configFor = (args: string[], env: Record<string, string> = {}) => serveConfig(givenFor(args, env), { production: false });

const issuers = ['--issuer', 'https://idp.example'];
const door = [...issuers, '--mcp-door', 'on', '--public-url', 'https://crib.example'];
const bridge = (settings: object) => ['--login-bridge', JSON.stringify({ client_id: 'toolcrib-login', ...settings })];

test('[LOGIN-3] the bridge takes the only issuer, and is off where nobody asks for it', () => {
  expect(configFor([...door, ...bridge({})]).loginBridge).toEqual({ client_id: 'toolcrib-login', issuer: 'https://idp.example' });
  expect(configFor(door).loginBridge).toBeUndefined();
  expect(configFor(['--login-bridge', 'off']).loginBridge).toBe('off');
  expect(configFor(door, { TOOLCRIB_LOGIN_BRIDGE: '{"client_id": "x"}' }).loginBridge).toMatchObject({ client_id: 'x' });
});

test('[LOGIN-3] the bridge can be configured in a file', async () => {
  await using folder = await temporaryDirectory();
  const path = join(folder.path, 'toolcrib.yaml');
  const login = 'login_bridge: { client_id: toolcrib-login, scopes: [openid, offline_access] }';
  await writeFile(
    path,
    `server:\n  issuers: [{issuer: https://idp.example, audience: toolcrib}]\n  mcp_door: "on"\n  public_url: https://crib.example\n  ${login}\n`,
  );
  const config = serveConfig(await withConfigFile(givenFor(['--config', path])), { production: true });
  expect(config.loginBridge).toMatchObject({ client_id: 'toolcrib-login', scopes: ['openid', 'offline_access'] });
});

test.each([
  [bridge({}), 'needs --issuer'],
  [[...issuers, ...bridge({})], 'open it with --mcp-door on'],
  [[...door, '--login-bridge', 'on'], 'must be off, or JSON'],
  [[...door, '--login-bridge', '{}'], 'client_id'],
  [[...door, ...bridge({ client_secret: 'x' })], 'client_secret'],
  [[...door, ...bridge({ issuer: 'https://other.example' })], 'must be one of https://idp.example'],
  [[...issuers, '--mcp-door', 'on', '--public-url', 'http://crib.example', ...bridge({})], 'needs https'],
  [[...issuers, '--mcp-door', 'on', '--host', '0.0.0.0', ...bridge({})], 'needs --public-url'],
  [[...door, ...bridge({ client_secret_file: '/a', client_secret_env: 'B' })], 'client_secret_env: does not go with client_secret_file'],
  [[...door, ...bridge({ scopes: ['profile'] })], 'must include openid'],
  [[...door, ...bridge({ recheck_seconds: 3600 })], 'recheck_seconds'],
  [[...door, ...bridge({ clients: [{ client_id: 'a', name: 'A', redirect_uris: ['http://evil.example/'] }] })], 'must be https'],
])('[LOGIN-3] %j is refused with what to do', (args, message) => {
  expect(() => configFor(args)).toThrow(message);
});

test('[LOGIN-3] with several issuers, the bridge has to name one', () => {
  const written = ['https://one.example', 'https://two.example'].map((issuer) => ({ issuer, audience: 'a', admin_claim: 'role=admin' }));
  const args = (settings: object) => ['--mcp-door', 'on', '--public-url', 'https://crib.example', ...bridge(settings)];
  const env = { TOOLCRIB_ISSUERS: JSON.stringify(written) };
  expect(() => configFor(args({}), env)).toThrow('must say which issuer signs people in');
  expect(configFor(args({ issuer: 'https://two.example' }), env).loginBridge).toMatchObject({ issuer: 'https://two.example' });
});

test('[LOGIN-3] a secret that cannot be read stops the start, and is in no message', async () => {
  const parts = { env: { FULL: ' s3cret\n', EMPTY: '' }, secretOf: async () => undefined };
  const config = { client_id: 'x' };
  expect(await clientProof({ ...config, client_secret_env: 'FULL' }, parts)).toEqual({ kind: 'secret', secret: 's3cret' });
  expect(await clientProof(config, parts)).toEqual({ kind: 'none' });
  await expect(clientProof({ ...config, client_secret_env: 'EMPTY' }, parts)).rejects.toThrow('the variable EMPTY is not set');
  await expect(clientProof({ ...config, client_secret_file: '/not/there' }, parts)).rejects.toThrow('/not/there cannot be read (ENOENT)');
  await expect(clientProof({ ...config, client_secret_ref: 'idp' }, parts)).rejects.toThrow('there is no secret idp');
  await expect(clientProof({ ...config, private_key_file: import.meta.filename }, parts)).rejects.toThrow(
    'is no PEM file with a private key',
  );
});
