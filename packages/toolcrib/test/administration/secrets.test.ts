import { expect, test } from 'vitest';
import { mcpDefinitionSchema } from '../../src/sources/mcp/mcp-definition.ts';
import { namesSecret } from '../../src/sources/source-registrations.ts';
import { fixture, startOpenServer } from '../fixtures/open-server.ts';

const ref = { secret_ref: 'shared' };

test.each<[string, object, boolean]>([
  ['a variable', { environment: { A: ref } }, true],
  ['a value that names it', { environment: { A: { value: 'Bearer ${shared}' } } }, true],
  ['a header', { headers: { 'X-A': ref } }, true],
  ['a bearer token', { credential: { type: 'bearer', token: ref } }, true],
  ['a client secret', { credential: { type: 'client_credentials', token_url: 'https://a', client_id: 'b', client_secret: ref } }, true],
  [
    'a client id',
    { credential: { type: 'client_credentials', token_url: 'https://a', client_id: '${shared}', client_secret: { value: 'c' } } },
    true,
  ],
  ['an argument', { command: ['node', 'x.js', '--key=${shared}'] }, true],
  ['an address', { server_url: 'https://a.example/${shared}' }, true],
  ['a variable of its name that names itself', { environment: { shared: { value: '${shared}' } } }, true],
  ['an argument that means a variable of that name', { environment: { shared: { value: '1' } }, command: ['node', '${shared}'] }, false],
  ['the characters themselves', { command: ['node', '$${shared}'] }, false],
  ['another secret', { environment: { A: { secret_ref: 'other' } } }, false],
  ['nothing', {}, false],
])('namesSecret finds whether a definition uses a secret: %s', (_what, fields, names) => {
  expect(namesSecret({ id: 's1', source_type: 'mcp', definition: mcpDefinitionSchema.parse(fields) }, 'shared')).toBe(names);
});

test("a source's own secret is needed where its variable is declared or named", () => {
  const own = (fields: object) =>
    namesSecret({ id: 's1', source_type: 'mcp', definition: mcpDefinitionSchema.parse(fields) }, 'mcp_s1.TOKEN');
  expect(own({ env_definitions: [{ name: 'TOKEN' }] })).toBe(true);
  expect(own({ command: ['node', '${TOKEN}'] })).toBe(true);
  expect(own({ env_definitions: [{ name: 'OTHER' }] })).toBe(false);
});

test('a secret that sources need is deleted only with force', async () => {
  await using server = await startOpenServer();
  const { admin } = server;
  await admin.put('/api/secrets/shared', { value: 'a value of some length' });
  const body = { mcp_command: fixture('plain'), enabled: false, mcp_env_vars: { A_TOKEN: { secret_ref: 'shared' } } };
  for (const name of ['First', 'Second']) expect((await admin.post('/api/sources', { ...body, name })).status).toBe(201);
  const refused = await admin.delete('/api/secrets/shared');
  expect([refused.status, refused.json.code]).toEqual([409, 'CONFLICT']);
  expect(refused.json.message).toContain('first, second');
  expect((await admin.delete('/api/secrets/shared?force=perhaps')).status).toBe(400);
  expect((await admin.delete('/api/secrets/shared?force=true')).status).toBe(204);
  expect((await admin.delete('/api/secrets/shared?force=true')).status).toBe(404);
});
