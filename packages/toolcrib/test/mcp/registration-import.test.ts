import { expect, test } from 'vitest';
import { parseImport } from '../../src/sources/import/read-import.ts';
import { definitionsOf } from './import-fixture.ts';

test.each<[string, unknown, object]>([
  [
    'a desktop client',
    { mcpServers: { a: { command: 'npx', args: ['-y', '@a/b', '/srv'], env: { LEVEL: 3, ON: true } } } },
    { command: ['npx', '-y', '@a/b', '/srv'], environment: { LEVEL: { value: '3' }, ON: { value: 'true' } } },
  ],
  [
    'an editor',
    { servers: { a: { type: 'stdio', command: 'uvx', args: ['x'] } }, inputs: [] },
    { command: ['uvx', 'x'], runtime_hint: 'uvx' },
  ],
  [
    'an editor over HTTP',
    { servers: { a: { type: 'http', url: 'https://x.example/mcp', headers: { 'X-A': 'b' } } } },
    { server_url: 'https://x.example/mcp', headers: { 'X-A': { value: 'b' } } },
  ],
  ['the settings of an editor', { mcp: { servers: { a: { command: 'x' } } }, 'editor.fontSize': 12 }, { command: ['x'] }],
  ['an old server', { mcpServers: { a: { type: 'sse', url: 'https://x.example/events' } } }, { transport_type: 'sse' }],
  ['an address that says it is an old one', { mcpServers: { a: { url: 'https://x.example/sse' } } }, { transport_type: 'sse' }],
  [
    'another spelling of HTTP',
    { mcpServers: { a: { type: 'streamable-http', url: 'https://x.example/sse' } } },
    { transport_type: 'streamable_http' },
  ],
  [
    'one more spelling',
    { mcpServers: { a: { transport: 'streamableHttp', url: 'https://x.example' } } },
    { transport_type: 'streamable_http' },
  ],
  ['an address by another name', { mcpServers: { a: { serverUrl: 'https://x.example/mcp' } } }, { server_url: 'https://x.example/mcp' }],
  [
    'an address by yet another name',
    { mcpServers: { a: { httpUrl: 'https://x.example/mcp', includeTools: ['b'] } } },
    { server_url: 'https://x.example/mcp', tools: { include: ['b'], exclude: [] } },
  ],
  [
    'a command that is a list',
    { mcp: { a: { type: 'local', command: ['npx', '-y', 'x'], environment: { A: 'b' } } } },
    { command: ['npx', '-y', 'x'], environment: { A: { value: 'b' } } },
  ],
  [
    'a command that is an object',
    { context_servers: { a: { command: { path: 'x', args: ['b'], env: { C: 'd' } }, settings: {} } } },
    { command: ['x', 'b'], environment: { C: { value: 'd' } } },
  ],
  ['servers alone', { a: { command: 'x', args: ['b'] } }, { command: ['x', 'b'] }],
  [
    'the way Windows starts a script',
    { mcpServers: { a: { command: 'cmd', args: ['/c', 'npx', '-y', 'x'] } } },
    { command: ['npx', '-y', 'x'] },
  ],
  [
    'the variables of an editor',
    { mcpServers: { a: { command: 'x', env: { A: '${env:HOME_TOKEN}', B: '${input:api-key}' } } } },
    { environment: { A: { value: '${HOME_TOKEN}' }, B: { value: '${API_KEY}' } } },
  ],
  [
    'an authorisation that is filled in later',
    { mcpServers: { a: { url: 'https://x.example', headers: { Authorization: 'Bearer ${input:token}' } } } },
    { headers: { Authorization: { value: 'Bearer ${TOKEN}' } } },
  ],
  [
    'what only a client knows',
    { mcpServers: { a: { command: 'x', autoApprove: ['b'], alwaysAllow: [], timeout: 60, icon: null } } },
    { command: ['x'], resilience: { requestTimeoutMs: 60_000 } },
  ],
  ['npx that would ask', { mcpServers: { a: { command: 'npx', args: ['some-server'] } } }, { command: ['npx', '-y', 'some-server'] }],
  [
    'npx that does not ask',
    { mcpServers: { a: { command: 'npx', args: ['--yes', 'some-server', '-y'] } } },
    { command: ['npx', '--yes', 'some-server', '-y'] },
  ],
  [
    'tools that are switched off',
    { mcpServers: { a: { command: 'x', disabledTools: ['b'] } } },
    { tools: { include: [], exclude: ['b'] } },
  ],
  [
    'times in milliseconds and in seconds',
    { mcp_servers: { a: { command: 'x', timeout: 90_000, startup_timeout_sec: 20 } } },
    { resilience: { requestTimeoutMs: 90_000, startupTimeoutMs: 20_000 } },
  ],
  [
    'a variable without braces',
    { mcpServers: { a: { command: 'x', args: ['$HOME_DIR/data'], env: { A: 'Bearer $API_TOKEN', B: 'pa$WORD', C: '$5 and $lower' } } } },
    {
      command: ['x', '${HOME_DIR}/data'],
      environment: { A: { value: 'Bearer ${API_TOKEN}' }, B: { value: 'pa$WORD' }, C: { value: '$5 and $lower' } },
    },
  ],
])('[SRC-4] %s is understood', async (_what, config, definition) => {
  expect((await definitionsOf(config))['a']).toMatchObject({ lifecycle_mode: 'singleton', ...definition });
});

test('[SRC-4] settings that mean nothing here are reported, not ignored silently', () => {
  const entry = { command: 'x', description: 'Mine', autoApprove: ['b'], timeout: 2000, gateway: 'y', env: {}, type: 'stdio' };
  const { registrations } = parseImport(JSON.stringify({ mcpServers: { a: entry, b: { command: 'x', timeout: 30 } } }));
  expect(registrations.map(({ notes }) => notes)).toEqual([
    [
      'autoApprove: not used. Policies decide who may use which tool',
      'Not used: gateway',
      expect.stringContaining('2000 may be seconds or milliseconds'),
    ],
    ['timeout: read as 30 seconds for each call'],
  ]);
  expect(registrations[0]?.form).not.toHaveProperty('resilience');
});

test('[SRC-4] a server that a client has switched off stays off', () => {
  const { registrations } = parseImport(
    JSON.stringify({ mcpServers: { a: { command: 'x', disabled: true }, b: { command: 'x', enabled: false }, c: { command: 'x' } } }),
  );
  expect(registrations.map(({ form }) => form.enabled)).toEqual([false, false, true]);
});

test('[SRC-4] comments and trailing commas, as editors allow them, are accepted', async () => {
  const definitions = await definitionsOf(`\uFEFF// My servers
  {
    "mcpServers": { /* one */
      "a": { "command": "x", "args": ["http://b//c", "/* no comment */", ",]", "\\"//",], }, // the end
    },
  }`);
  expect(definitions['a']?.command).toEqual(['x', 'http://b//c', '/* no comment */', ',]', '"//']);
});

test.each<[string, unknown, RegExp]>([
  ['neither a command nor an address', {}, /neither a command nor an address/],
  ['a command and an address', { command: 'x', url: 'https://x.example' }, /both a command and an address/],
  ['something else', 'npx x', /expected object/],
  ['null', null, /expected object/],
  ['arguments that are a text', { command: 'x', args: '-y' }, /^args: /],
  ['an unknown transport', { type: 'websocket', url: 'https://x.example' }, /is not a transport/],
  ['a command over HTTP', { type: 'http', command: 'x' }, /Give the url/],
  ['an address over stdio', { type: 'stdio', url: 'https://x.example' }, /its transport is stdio/],
  ['a file of variables', { command: 'x', envFile: '${workspaceFolder}/.env' }, /^envFile: /],
  ['a folder that only an editor knows', { command: 'x', args: ['${workspaceFolder}/x'] }, /Only an editor can fill in/],
  ['a default that only a client knows', { command: 'x', env: { A: '${B:-c}' } }, /Only an editor can fill in/],
])('[SRC-4] an entry with %s is reported beside the good ones', (_what, entry, message) => {
  const { registrations, problems } = parseImport(
    JSON.stringify({ mcpServers: { good: { command: 'x' }, bad: entry, also: { url: 'https://x.example' } } }),
  );
  expect(registrations.map(({ form }) => form.name)).toEqual(['good', 'also']);
  expect(problems).toEqual([{ entry: 'mcpServers.bad', message: expect.stringMatching(message) }]);
});

test.each<[string, string]>([
  ['an empty text', ''],
  ['no JSON', 'mcpServers:'],
  ['an open comment', '{ /* '],
  ['an authentication alone', '{"auth": {"auth_type": "oauth2"}}'],
  ['an empty object', '{}'],
  ['a number', '7'],
  ['no servers', '{"mcpServers": {}}'],
  ['a changed prototype', '{"mcpServers": {"__proto__": {"command": "x"}}}'],
  ['deep nesting', `{"mcpServers": ${'{"a":'.repeat(100_000)}`],
  ['a text that is too long', ' '.repeat(5_000_000)],
  [
    'too many servers',
    JSON.stringify({ mcpServers: Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`s${index}`, { command: 'x' }])) }),
  ],
])('[SRC-4] %s is refused as a whole', (_what, text) => {
  expect(() => parseImport(text)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
});

test('[SRC-4] a file of nothing but commas and brackets is read without delay', () => {
  expect(() => parseImport(`{"mcpServers": {"a": {"command": "x", "args": [${'[,],'.repeat(300_000)}]}}}`)).not.toThrow();
});
