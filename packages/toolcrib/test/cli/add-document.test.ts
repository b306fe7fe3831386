import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addRegistration } from '../../src/cli/add-registration.ts';
import { add } from '../../src/cli/add.ts';
import type { Given } from '../../src/cli/given.ts';
import { parseCommandLine } from '../../src/cli/parse-command-line.ts';
import { sourceFormSchema } from '../../src/sources/source-forms.ts';
import { bookPaths, documentOf, startDocumentService } from '../fixtures/document-service.ts';
import { temporaryDirectory, type TemporaryDirectory } from '../running-server.ts';
import { startSourceCommands } from './source-commands.ts';

let folder: TemporaryDirectory;
let commands: Awaited<ReturnType<typeof startSourceCommands>>;
beforeAll(async () => {
  folder = await temporaryDirectory();
  commands = await startSourceCommands();
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** The registration that `toolcrib add` would send. */
function registration(args: string[], variables: Record<string, string> = {}) {
  const given = parseCommandLine(add, args, {}) as Given;
  const form = addRegistration(given).formWith(variables);
  sourceFormSchema.parse(form);
  return form as { source_type?: string };
}
async function file(name: string, content: object | string): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('[CLI-1] [ID-2] basic authentication on the command line', () => {
  const address = 'https://api.example.org/openapi.json';
  test.each([
    [['--basic-user', 'ann'], { BASIC_PASSWORD: 'x' }, { username: 'ann', password: 'x' }],
    [['--basic-key'], { BASIC_KEY: 'k' }, { username: 'k', password: '' }],
  ])('%j gives a credential, for a document and for an MCP server', (options, variables, pair) => {
    const credential = { type: 'basic', ...pair };
    expect(registration([address, ...options], variables)).toMatchObject({ source_type: 'openapi', credential });
    const server = registration(['https://mcp.example.org/mcp', ...options], { ...variables, API_KEY: 'y' });
    expect(server).toMatchObject({ credential, mcp_env_vars: { API_KEY: 'y' } });
    expect(JSON.stringify(server)).not.toContain('BASIC_');
  });

  test.each([
    [['--basic-user', 'ann:secret'], {}, 'takes only the user name'],
    [['--basic-user', 'ann', '--basic-key'], {}, '--basic-user or --basic-key'],
    [['--basic-key', '--oauth'], {}, '--oauth or --basic-key'],
    [['--basic-user', 'ann'], { BEARER_TOKEN: 'x' }, 'BEARER_TOKEN or --basic-user'],
  ])('%j beside %j is refused', (options, variables, words) => {
    expect(() => registration([address, ...options], variables)).toThrow(words);
  });

  test('is refused for a program', () => {
    expect(() => registration(['--basic-key', '--', 'node', 'x.js'])).toThrow('--basic-key is not for a program');
  });
});

describe('a document that is added', () => {
  test.each([
    ['https://api.example.org/openapi.json', 'openapi'],
    ['https://api.example.org/v3/api-docs', 'openapi'],
    ['https://api.example.org/swagger.yaml?x=1', 'openapi'],
    ['https://api.example.org/flows/arazzo.yml', 'workflow'],
    ['https://mcp.example.org/mcp', undefined],
    ['https://mcp.example.org/', undefined],
  ])('[CLI-1] is recognised by its address: %s is %s', (address, type) => {
    const form = registration([address]);
    expect(form.source_type).toBe(type);
  });

  test('[CLI-1] [SRC-5] is read here and sent, whatever it describes', async () => {
    const text = JSON.stringify(documentOf(bookPaths));
    const openapi = await file('library.json', text);
    expect(registration([openapi])).toEqual({ name: 'library', source_type: 'openapi', openapi: { text } });
    const arazzo = 'arazzo: 1.0.1\ninfo: {title: x, version: "1"}\n';
    expect(registration([await file('flows.arazzo.yaml', arazzo), '--source', 'books=library'])).toEqual({
      name: 'flows',
      source_type: 'workflow',
      workflow: { text: arazzo, sources: { books: 'library' } },
    });
    const odd = await file('odd.json', '{"tools": []}');
    expect(() => registration([odd])).toThrow('looks like neither OpenAPI nor Arazzo');
    expect(registration([odd, '--openapi'])).toMatchObject({ source_type: 'openapi' });
    const steps = 'arazzo: 1.0.1\nsourceDescriptions:\n  - name: x\n    openapi: 3.1.0\n';
    expect(registration([await file('steps.yaml', steps)])).toMatchObject({ source_type: 'workflow' });
    const manual = await file('manual.json', '{"utcp_version": "1.0.1", "tools": []}');
    expect(() => registration([manual])).toThrow('toolcrib import');
    expect(() => registration([join(folder.path, 'nowhere.json'), '--openapi'])).toThrow('There is no file');
  });

  test('[CLI-1] [INV-5] can have a server, a choice of tools and a credential', () => {
    const args = ['https://api.example.org/openapi.json', '--name', 'shop', '--server-url', 'https://shop.example.org/v2'];
    const more = [
      '--origin',
      'https://shop.example.org',
      '--server-variable',
      'tenant=blue',
      '--tag',
      'orders',
      '--tag',
      'users',
      '--method',
      'GET',
      '--exclude',
      '*admin*',
    ];
    expect(registration([...args, ...more, '--header', 'X-Team: blue'], { BEARER_TOKEN: 'abc', API_KEY: 'def' })).toEqual({
      name: 'shop',
      source_type: 'openapi',
      openapi: {
        url: 'https://api.example.org/openapi.json',
        server_url: 'https://shop.example.org/v2',
        origins: ['https://shop.example.org'],
        server_variables: { tenant: 'blue' },
      },
      tools: { include: [{ tags: ['orders', 'users'], methods: ['GET'] }], exclude: ['*admin*'] },
      headers: { 'X-Team': 'blue', 'X-API-Key': 'def' },
      credential: { type: 'bearer', token: 'abc' },
    });
    expect(() => registration(args, { LEVEL: 'info' })).toThrow('An API has no variable LEVEL');
    expect(() => registration([...args, '--lifecycle', 'transient'])).toThrow('--lifecycle is for MCP servers, not for OpenAPI services');
    expect(() => registration(['https://mcp.example.org/mcp', '--server-url', 'x'])).toThrow(
      '--server-url is for OpenAPI services, not for MCP servers',
    );
  });

  test.each<[args: string[], message: string]>([
    [['--openapi'], 'Name the document'],
    [['https://api.example.org/x.json', 'more'], '"more" is one argument too many after a document'],
    [['https://api.example.org/x.json', '--openapi', '--workflow'], 'Give --openapi or --workflow, not both'],
    [
      ['https://api.example.org/arazzo.json', '--header', 'A: b'],
      '--header is for MCP servers, OpenAPI services and GraphQL services, not for workflows',
    ],
    [['https://api.example.org/openapi.json', '--source', 'a=b'], '--source is for workflows, not for OpenAPI services'],
    [['http://[x/openapi.json'], 'is not an address'],
  ])('[CLI-1] toolcrib add %j is refused before anything is sent', (args, message) => {
    expect(() => registration(args)).toThrow(message);
  });
});

test('[CLI-1] [OAS-1] adding a document ends with its outcome and the list of its tools', async () => {
  const strange = { get: { operationId: 'strange', parameters: [{ $ref: '#/components/parameters/nowhere' }], responses: {} } };
  await using service = await startDocumentService(documentOf({ ...bookPaths, '/strange': strange }));
  const { code, stdout, stderr } = await commands.run(['add', service.url, '--name', 'shelf', '--tag', 'reading']);
  expect(code).toBe(0);
  expect(stderr).toMatch(/OpenAPI 3\.1\.0: 5 operations, 4 tools, 1 skipped; about \d+ tokens/);
  expect(stderr).toContain(`Its requests go to ${service.origin}`);
  expect(stderr).toMatch(/skipped GET \/strange: /);
  expect(stdout).toMatch(/^shelf:getBook/m);
  expect(stdout).not.toContain('addBook');
  const shown = await commands.run(['sources', 'show', 'shelf']);
  expect(shown.stdout).toContain(service.url);
  expect(shown.stdout).toMatch(/Import +OpenAPI 3\.1\.0: 5 operations/);
  service.describe(documentOf({ '/books': bookPaths['/books'] ?? {} }));
  const refreshed = await commands.run(['sources', 'refresh', 'shelf']);
  expect(refreshed.stdout).toContain('Removed: getBook');
  const tried = await commands.run(['add', service.url, '--name', 'another', '--dry-run']);
  expect({ code: tried.code, stderr: tried.stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining('It would have 2 tools. Nothing is saved.'),
  });
});

test('[CLI-1] [ID-2] [ENV-4] a key from standard input becomes the user name of every request and is never shown', async () => {
  await using service = await startDocumentService();
  // No MCP server is there: what it was sent is all that matters here.
  const added = await commands.run(['add', `${service.origin}/mcp`, '--name', 'keyed', '--basic-key', '--json'], { input: 'canary-key\n' });
  expect(added.stdout).toContain('"username": "***"');
  const sent = new Set(service.seen.map(({ headers }) => headers.authorization));
  expect([...sent]).toEqual([`Basic ${Buffer.from('canary-key:').toString('base64')}`]);
  expect(added.stdout + added.stderr).not.toContain('canary-key');
});
