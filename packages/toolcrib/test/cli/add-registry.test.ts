import { afterAll, beforeAll, expect, test } from 'vitest';
import { addRegistration } from '../../src/cli/add-registration.ts';
import { add } from '../../src/cli/add.ts';
import type { Given } from '../../src/cli/given.ts';
import { parseCommandLine } from '../../src/cli/parse-command-line.ts';
import { sourceFormSchema } from '../../src/sources/source-forms.ts';
import { startRegistries } from '../fixtures/registry-service.ts';
import { runToolcrib } from './run-toolcrib.ts';
import { startServing } from './serving.ts';

let registries: Awaited<ReturnType<typeof startRegistries>>;
let server: Awaited<ReturnType<typeof startServing>>;
beforeAll(async () => {
  registries = await startRegistries();
  server = await startServing(['--registry', registries.origin], { TOOLCRIB_SMITHERY_REGISTRY: 'off' });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await registries[Symbol.asyncDispose]();
});

const run = (args: string[], input?: string) =>
  runToolcrib(args, { env: { TOOLCRIB_URL: server.url }, ...(input === undefined ? {} : { input }) });

function registration(args: string[], variables: Record<string, string> = {}) {
  const given = parseCommandLine(add, args, {}) as Given;
  const form = addRegistration(given).formWith(variables);
  sourceFormSchema.parse(form);
  return form;
}

test.each<[string[], object]>([
  [['registry:io.github.owner/some-mcp'], { name: 'some', source: { Official: { name: 'io.github.owner/some-mcp', version: 'latest' } } }],
  [['registry:io.github.owner/b@1.2.3'], { source: { Official: { name: 'io.github.owner/b', version: '1.2.3' } } }],
  [['registry:io.github.owner/b', '--version', '1.2.3'], { source: { Official: { name: 'io.github.owner/b', version: '1.2.3' } } }],
  [
    ['smithery:@owner/name', '--setting', 'key=${KEY}'],
    { source: { Smithery: { qualified_name: '@owner/name' } }, config: { key: '${KEY}' } },
  ],
  [['registry:a/b', '--header', 'X-Team: blue', '--oauth'], { headers: { 'X-Team': 'blue' }, credential: { type: 'oauth' } }],
])('[CLI-1] [SRC-2] %j names a server of a registry', (args, form) => {
  expect(registration(args)).toMatchObject(form);
});

test('[CLI-1] variables are passed to the server', () => {
  expect(registration(['registry:a/b'], { A_TOKEN: 'x' })).toMatchObject({ env_vars: { A_TOKEN: 'x' } });
});

test.each([
  [['registry:a/b@1', '--version', '2'], 'given twice'],
  [['smithery:a', '--version', '2'], 'has no versions'],
  [['registry:a/b', 'c'], 'one argument too many'],
  [['npx', 'a', '--setting', 'b=c'], '--setting is for'],
])('[CLI-1] %j is refused with the reason', (args, words) => {
  expect(() => registration(args)).toThrow(words);
});

test('[CLI-1] [MC-NT4] [SRC-8] a dry run says what came from the registry and what is missing', async () => {
  const name = 'registry:io.github.domdomegg/airtable-mcp-server@1.7.3';
  const tried = await run(['add', name, '--dry-run']);
  expect(tried.code).toBe(1);
  expect(tried.stderr).toContain(`io.github.domdomegg/airtable-mcp-server 1.7.3 at ${registries.origin} says what to start`);
  expect(tried.stderr).toContain('would be started with npx -y airtable-mcp-server@1.7.3');
  expect(tried.stderr).toContain('AIRTABLE_API_KEY (--secret AIRTABLE_API_KEY)');
  const refused = await run(['add', name, '--no-wait']);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('AIRTABLE_API_KEY (--secret AIRTABLE_API_KEY)')]);
});

test('[CLI-1] a registered server is shown with its registry, and a registry that is switched off is refused', async () => {
  const added = await run(['add', 'registry:io.decisionrules/mcp-server@1.0.0', '--no-wait', '--name', 'rules']);
  expect(added.code).toBe(0);
  const shown = await run(['sources', 'show', 'rules']);
  expect(shown.stdout).toContain(`io.decisionrules/mcp-server 1.0.0 at ${registries.origin}`);
  const off = await run(['add', 'smithery:exa', '--no-wait']);
  expect([off.code, off.stderr]).toEqual([1, expect.stringContaining('the operator has turned it off')]);
});

test('[CLI-1] the address of a registry is checked before the server starts', async () => {
  const { code, stderr } = await run(['serve', '--registry', 'ftp://x', '--port', '0']);
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('--registry must be an address such as https://registry.modelcontextprotocol.io, or off'),
  ]);
});
