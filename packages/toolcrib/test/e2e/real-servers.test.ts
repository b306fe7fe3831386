import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../src/net/free-port.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { startEverything } from '../fixtures/mcp/sessions.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { part } from '../parts.ts';
import { temporaryDirectory } from '../running-server.ts';

/** Servers that other people wrote, as a user would register them. The first start of each fetches its package. */
const npx = part('npx');
const uvx = part('uvx');
if (uvx.available) process.env.PATH = `${dirname(uvx.url)}${delimiter}${process.env.PATH}`;

const work = await temporaryDirectory();
const at = (name: string) => join(work.path, name);
const page = await startHttpServer((_request, response) => {
  response.setHeader('content-type', 'text/html').end('<html><body><h1>The page of the test</h1></body></html>');
});
afterAll(async () => {
  await page[Symbol.asyncDispose]();
  await work[Symbol.asyncDispose]();
});

let server: OpenServer;
beforeAll(async () => {
  mkdirSync(at('files'));
  writeFileSync(at('files/a.txt'), 'hello gateway');
  const git = (...args: string[]) => execFileSync('git', ['-C', at('repository'), ...args]);
  mkdirSync(at('repository'));
  git('init', '--quiet');
  git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '--quiet', '--allow-empty', '-m', 'first commit');
  using database = new DatabaseSync(at('numbers.db'));
  database.exec('create table t (a integer); insert into t values (1), (2)');
  server = await startOpenServer();
});
afterAll(() => server[Symbol.asyncDispose]());

interface RealServer {
  name: string;
  form: object;
  /** How many tools it has, and the revision that we come to speak with it. */
  tools: number;
  revision: string;
  call: [tool: string, args: object];
  /** In the text of the answer. */
  answer: string;
}

const stdio = { transport: { type: 'stdio' } };
const npm = (name: string, args: string[] = [], env_vars = {}) => ({
  mcp: { package: { package_type: 'npm', identifier: `@modelcontextprotocol/${name}`, version: '2026.8.31', args }, env_vars, ...stdio },
});
const pypi = (identifier: string, version: string, ...args: string[]) => ({
  mcp: { package: { package_type: 'pypi', identifier, version, args }, ...stdio },
});

/** With the door open, a client may be asked for samples and roots, and so two more of its tools are there. */
const everything = {
  tools: 15,
  revision: '2025-11-25',
  call: ['get-sum', { a: 2, b: 40 }],
  answer: 'The sum of 2 and 40 is 42.',
} satisfies Partial<RealServer>;
const fromNpm: RealServer[] = [
  { name: 'everything', form: npm('server-everything'), ...everything },
  {
    name: 'filesystem',
    form: npm('server-filesystem', [at('files')]),
    tools: 14,
    revision: '2025-11-25',
    call: ['read_text_file', { path: at('files/a.txt') }],
    answer: 'hello gateway',
  },
  {
    name: 'memory',
    form: { ...npm('server-memory', [], { MEMORY_FILE_PATH: { value: at('memory.json') } }), mcp_lifecycle_mode: 'singleton' },
    tools: 9,
    revision: '2025-11-25',
    call: ['create_entities', { entities: [{ name: 'gateway', entityType: 'tool', observations: ['it remembers'] }] }],
    answer: 'it remembers',
  },
];

const fromPypi: RealServer[] = [
  {
    name: 'time',
    form: pypi('mcp-server-time', '2026.10.19', '--local-timezone', 'UTC'),
    tools: 2,
    revision: '2026-07-28',
    call: ['convert_time', { source_timezone: 'UTC', time: '12:00', target_timezone: 'Asia/Tokyo' }],
    answer: '+9.0h',
  },
  {
    name: 'git',
    form: { ...pypi('mcp-server-git', '2026.10.19', '--repository', at('repository')), mcp_lifecycle_mode: 'singleton' },
    tools: 12,
    revision: '2026-07-28',
    call: ['git_log', { repo_path: at('repository'), max_count: 1 }],
    answer: 'first commit',
  },
  {
    name: 'fetch',
    form: {
      ...pypi('mcp-server-fetch', '2026.10.24', '--ignore-robots-txt', '--allow-private-ips'),
      mcp_lifecycle_mode: 'singleton',
    },
    tools: 1,
    revision: '2026-07-28',
    call: ['fetch', { url: page.origin, raw: true }],
    answer: '<h1>The page of the test</h1>',
  },
  {
    name: 'sqlite',
    // Written for the first SDK and without an upper bound of its own: what it runs with has to be said.
    form: {
      mcp: {
        package: {
          package_type: 'pypi',
          identifier: 'mcp-server-sqlite',
          version: '2025.4.25',
          program: 'mcp-server-sqlite',
          with: ['mcp<2'],
          args: ['--db-path', at('numbers.db')],
        },
        ...stdio,
      },
      mcp_lifecycle_mode: 'singleton',
    },
    tools: 6,
    revision: '2025-11-25',
    call: ['read_query', { query: 'SELECT sum(a) AS s FROM t' }],
    answer: "[{'s': 3}]",
  },
];

/** Registers it, looks for its tools as a user, and calls one. */
async function meet({ name, form, call: [tool, args] }: RealServer) {
  const { admin, alice } = server;
  const { json: source } = await admin.post('/api/sources?wait=180000', { name, ...form });
  const listed = (await alice.listedNames()).filter((one) => one.startsWith(`${name}:`));
  const { json: called } = await alice.call(`${name}:${tool}`, args);
  return { source, listed, tools: listed.length, called };
}

const expected = ({ name, tools, revision, call: [tool], answer }: RealServer) => ({
  source: { status: { state: 'running', tools }, health: 'healthy', server: { protocol_version: revision } },
  listed: expect.arrayContaining([`${name}:${tool}`]),
  tools,
  called: { success: true, text: expect.stringContaining(answer) },
});

const patience = 240_000;

describe.skipIf(!npx.available)('[MCP-1] [MCP-2] [SRC-2] a real server from npm', () => {
  test.concurrent.each(fromNpm)(
    '$name is listed and called',
    async (real) => {
      expect(await meet(real)).toMatchObject(expected(real));
    },
    patience,
  );

  // After the one over stdio: two that fetch the same package at once would get in the way of each other inside npx.
  test(
    'everything can be listed and called over its own SSE',
    async () => {
      const mcp_command = ['npx', '-y', '@modelcontextprotocol/server-everything@2026.8.31', 'sse'];
      const form = { mcp_command, mcp_transport_type: 'sse', mcp_lifecycle_mode: 'singleton' };
      const real: RealServer = { name: 'everything-sse', form, ...everything };
      expect(await meet(real)).toMatchObject(expected(real));
    },
    patience,
  );
});

describe.skipIf(!uvx.available)('[MCP-1] [MCP-2] [SRC-2] a real server from PyPI', () => {
  test.concurrent.each(fromPypi)(
    '$name is listed and called',
    async (real) => {
      expect(await meet(real)).toMatchObject(expected(real));
    },
    patience,
  );
});

describe.each([
  ['streamableHttp', { path: 'mcp', mcp_transport_type: 'streamable_http' }],
  ['sse', { path: 'sse', mcp_transport_type: 'sse' }],
] as const)('[MCP-2] the "everything" server that already runs, over %s', (mode, { path, mcp_transport_type }) => {
  test('is listed and called', async () => {
    const port = await freePort('127.0.0.1');
    await using _running = await startEverything(mode, port);
    const form = { mcp_server_url: `http://127.0.0.1:${port}/${path}`, mcp_transport_type };
    const real: RealServer = { name: `far-${path}`, form, ...everything };
    expect(await meet(real)).toMatchObject(expected(real));
    await server.admin.delete(`/api/sources/far-${path}`);
  });
});

describe.each([
  ['npm', npx.available],
  ['pypi', uvx.available],
])('[ERR-1] [SRC-9] a package that does not exist in %s', (package_type, available) => {
  test.skipIf(!available)(
    'is kept with that error',
    async () => {
      const form = { name: `None of ${package_type}`, mcp: { package: { package_type, identifier: 'toolcrib-no-such-server' }, ...stdio } };
      const { status, json } = await server.admin.post('/api/sources?wait=120000', form);
      const words = { summary: expect.stringMatching(/^Package not found/), last_words: expect.any(Array) };
      const error = { state: 'error', code: 'NOT_FOUND', message: expect.stringMatching(/^Package not found/), ...words };
      expect([status, json.status]).toEqual([201, error]);
    },
    patience,
  );
});
