import { describe, expect, test } from 'vitest';
import { mcpRegistrationSchema } from '../../src/sources/mcp/registration/forms.ts';
import { mergeUpdate } from '../../src/sources/mcp/registration/merge-update.ts';
import { showDefinition } from '../../src/sources/mcp/registration/show-definition.ts';
import { refusalOf, register, secretName } from './registration-fixture.ts';

const remote = { name: 'a', mcp_server_url: 'https://mcp.example.com/mcp' };
const local = {
  name: 'a',
  mcp_command: ['/opt/notes/server'],
  credential: { type: 'oauth', authorization_server: 'https://auth.example.com' },
  credential_env: 'NOTES_TOKEN',
};
const exchange = { type: 'token_exchange', audience: 'notes-api', client_id: 'me', client_secret: 'x' };
const secret = (place: string) => ({ secret_ref: secretName(place) });

test.each<[string, object, object, Record<string, string>]>([
  [
    'an API key',
    { type: 'api_key', in: 'query', name: 'key', value: 'S1' },
    { type: 'api_key', in: 'query', name: 'key', value: secret('credential.value') },
    { 'credential.value': 'S1' },
  ],
  [
    'a name and a password',
    { type: 'basic', username: 'me', password: 'S1' },
    { type: 'basic', username: 'me', password: secret('credential.password') },
    { 'credential.password': 'S1' },
  ],
  [
    'a key as the user name, without a password',
    { type: 'basic', username: 'S1', password: '' },
    { type: 'basic', username: secret('credential.username'), password: { value: '' } },
    { 'credential.username': 'S1' },
  ],
  [
    'a user name that is said to be a secret',
    { type: 'basic', username: { value: 'S1', is_secret: true }, password: { secret_ref: 'shared' } },
    { type: 'basic', username: secret('credential.username'), password: { secret_ref: 'shared' } },
    { 'credential.username': 'S1' },
  ],
  [
    'a client that signs',
    { type: 'client_credentials', client_id: 'me', private_key: 'S1' },
    { type: 'client_credentials', client_id: 'me', private_key: secret('credential.private_key') },
    { 'credential.private_key': 'S1' },
  ],
  [
    'an assertion',
    { type: 'jwt_bearer', client_id: 'me', assertion: 'S1', client_secret: { secret_ref: 'shared' } },
    { type: 'jwt_bearer', client_id: 'me', assertion: secret('credential.assertion'), client_secret: { secret_ref: 'shared' } },
    { 'credential.assertion': 'S1' },
  ],
  [
    'connections of users, over a client that was registered by hand',
    { type: 'oauth', client_id: 'me', client_secret: 'S1', scope: 'a b' },
    { type: 'oauth', client_id: 'me', client_secret: secret('credential.client_secret'), scope: 'a b' },
    { 'credential.client_secret': 'S1' },
  ],
  [
    'an exchange of the token of the caller',
    { type: 'token_exchange', audience: 'notes-api', client_id: 'me', client_secret: 'S1', scope: 'a b' },
    {
      type: 'token_exchange',
      audience: 'notes-api',
      client_id: 'me',
      client_secret: secret('credential.client_secret'),
      scope: 'a b',
    },
    { 'credential.client_secret': 'S1' },
  ],
])(
  '[ID-2] [ENV-4] %s has its secrets sealed, shown as ***, and kept when that is sent back',
  async (_what, credential, stored, secrets) => {
    const registered = await register({ ...remote, credential });
    expect(registered.definition.credential).toEqual(stored);
    expect(registered.secrets).toEqual(secrets);
    const shown = showDefinition(registered.definition);
    expect(JSON.stringify(shown)).not.toContain('S1');
    expect(JSON.stringify(shown.credential)).toContain('***');
    const update = mcpRegistrationSchema.parse({ ...remote, credential: shown.credential });
    const again = await register(mergeUpdate(registered.definition, update));
    expect([again.definition.credential, again.secrets]).toEqual([stored, {}]);
  },
);

test.each<[string, string | object, string | object]>([
  ['a name is shown', 'me', 'me'],
  ['a name in an object too', { value: 'me' }, 'me'],
  ['a name that is said to be none', { value: 'me', is_secret: false }, 'me'],
  ['a stored secret is shown by its name', { secret_ref: 'shared' }, { secret_ref: 'shared' }],
  ['a key that gives itself away is hidden', 'sk_test_4eC39HqLyjWDarjtT1zdp7dc', '***'],
  ['a variable is shown as one', '${STRIPE_KEY}', '${STRIPE_KEY}'],
])('[ENV-4] [ID-2] of the user names of basic authentication, %s', async (_what, username, shown) => {
  const { definition } = await register({ ...remote, credential: { type: 'basic', username, password: 'S1' } });
  expect(showDefinition(definition).credential).toEqual({ type: 'basic', username: shown, password: '***' });
});

test('[ENV-4] a key that an older version stored as a plain user name is hidden, and kept when *** is sent back', async () => {
  const { definition } = await register({ ...remote, credential: { type: 'basic', username: 'me', password: 'S1' } });
  const credential = { type: 'basic' as const, username: 'sk_live_4eC39HqLyjWDarjtT1zdp7dc', password: { value: 'x' } };
  const older = { ...definition, credential };
  expect(showDefinition(older).credential).toEqual({ type: 'basic', username: '***', password: '***' });
  const update = mcpRegistrationSchema.parse({ ...remote, credential: showDefinition(older).credential });
  const { secrets } = await register(mergeUpdate(older, update));
  expect(secrets).toMatchObject({ 'credential.username': credential.username });
});

test('[INV-6] a credential for discovery has secrets of its own', async () => {
  const discovery_credential = { type: 'bearer', token: 'S1' };
  const { definition, secrets } = await register({ ...remote, credential: { type: 'oauth' }, discovery_credential });
  expect(secrets).toEqual({ 'discovery_credential.token': 'S1' });
  const shown = showDefinition(definition);
  expect(shown.discovery_credential).toEqual({ type: 'bearer', token: '***' });
  const update = mcpRegistrationSchema.parse({ ...remote, credential: shown.credential, discovery_credential: shown.discovery_credential });
  expect((await register(mergeUpdate(definition, update))).definition).toEqual(definition);
});

test('[ID-6] a local server may act for its users', async () => {
  expect((await register({ ...local, discovery_credential: { type: 'none' } })).definition).toMatchObject({
    credential: { type: 'oauth', authorization_server: 'https://auth.example.com' },
    credential_env: 'NOTES_TOKEN',
    discovery_credential: { type: 'none' },
    lifecycle_mode: 'transient',
  });
});

describe('[ID-2] [ID-6] a registration is refused', () => {
  test.each<[string, object, string]>([
    ['without a secret', { ...remote, credential: { type: 'basic', username: 'me', password: ' ' } }, 'credential.password'],
    [
      'with a user name that no header can carry',
      { ...remote, credential: { type: 'basic', username: 'a:b', password: 'x' } },
      'credential.username',
    ],
    ['with neither name nor password', { ...remote, credential: { type: 'basic', username: '', password: '' } }, 'credential.username'],
    [
      'with a header that belongs to the connection',
      { ...remote, credential: { type: 'api_key', name: 'Host', value: 'x' } },
      'credential.name',
    ],
    ['with neither secret nor key', { ...remote, credential: { type: 'client_credentials', client_id: 'me' } }, 'credential.client_secret'],
    [
      'with a secret and a key',
      { ...remote, credential: { type: 'client_credentials', client_id: 'me', client_secret: 'x', private_key: 'y' } },
      'credential.client_secret',
    ],
    ['with the secret of no client', { ...remote, credential: { type: 'oauth', client_secret: 'x' } }, 'credential.client_id'],
    [
      'with client metadata in plain text',
      { ...remote, credential: { type: 'oauth', client_metadata_url: 'http://x.example/client.json' } },
      'credential.client_metadata_url',
    ],
    ['with a variable for a remote server', { ...remote, credential: { type: 'oauth' }, credential_env: 'A' }, 'credential_env'],
    ['with a variable for nobody', { ...remote, credential_env: 'A' }, 'credential_env'],
    ['with discovery apart where all speak alike', { ...remote, discovery_credential: { type: 'none' } }, 'discovery_credential'],
    [
      'with discovery apart where all share a connection',
      { ...remote, credential: { type: 'oauth', shared: true }, discovery_credential: { type: 'none' } },
      'discovery_credential',
    ],
    [
      'with settings for discovery that are those of the credential',
      { ...remote, credential: { type: 'oauth' }, discovery_credential: { type: 'oauth', scope: 'a' } },
      'discovery_credential',
    ],
    [
      'with an exchange for several audiences',
      { ...remote, credential: { ...exchange, audience: 'notes-api files-api' } },
      'credential.audience',
    ],
    ['with an exchange by nobody', { ...remote, credential: { ...exchange, client_id: ' ' } }, 'credential.client_id'],
    ['with an exchange for discovery', { ...remote, credential: exchange, discovery_credential: exchange }, 'discovery_credential'],
    [
      'with the token of a caller for discovery',
      { ...remote, credential: exchange, discovery_credential: { type: 'caller_token' } },
      'discovery_credential',
    ],
    [
      'with a connection for discovery where nobody connects',
      { ...remote, credential: exchange, discovery_credential: { type: 'oauth' } },
      'discovery_credential',
    ],
    [
      'with the token of a caller in plain text',
      { ...remote, mcp_server_url: 'http://mcp.example.com/mcp', allow_insecure: true, credential: { type: 'caller_token' } },
      'allow_insecure',
    ],
    ['with the token of a caller for a process', { ...local, credential: { type: 'caller_token' } }, 'credential'],
    ['with an exchange and one process', { ...local, credential: exchange, mcp_lifecycle_mode: 'singleton' }, 'mcp_lifecycle_mode'],
    ['with an exchange and processes ahead', { ...local, credential: exchange, standby: 1 }, 'standby'],
    ['with an exchange and no variable', { ...local, credential: exchange, credential_env: undefined }, 'credential_env'],
    ['with one process for all users', { ...local, mcp_lifecycle_mode: 'singleton' }, 'mcp_lifecycle_mode'],
    ['with processes ahead of their users', { ...local, standby: 1 }, 'standby'],
    ['without a variable', { ...local, credential_env: undefined }, 'credential_env'],
    ['with a variable that decides which code runs', { ...local, credential_env: 'NODE_OPTIONS' }, 'credential_env'],
    ['with a variable that has a value', { ...local, mcp_env_vars: { NOTES_TOKEN: 'x' } }, 'credential_env'],
    ['without an authorization server', { ...local, credential: { type: 'oauth' } }, 'credential.authorization_server'],
    ['with a shared connection for a process', { ...local, credential: { ...local.credential, shared: true } }, 'credential'],
    [
      'with a password for discovery',
      { ...local, discovery_credential: { type: 'basic', username: 'a', password: 'b' } },
      'discovery_credential',
    ],
    [
      'with a token endpoint that nobody can be asked for',
      { ...local, discovery_credential: { type: 'client_credentials', client_id: 'a', client_secret: 'b' } },
      'discovery_credential.token_url',
    ],
    ['with a header for a process', { name: 'a', mcp_command: ['/opt/x'], credential: { type: 'bearer', token: 'x' } }, 'credential'],
  ])('%s', async (_what, body, field) => {
    const { code, field: at } = await refusalOf(register(body));
    expect([code === 'FORBIDDEN' ? 'VALIDATION_ERROR' : code, at]).toEqual(['VALIDATION_ERROR', field]);
  });
});
