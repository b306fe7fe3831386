import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { documentedOperations } from '../fixtures/documented-operations.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { startTestServer, temporaryDirectory } from '../running-server.ts';

const schemathesis = part('schemathesis');
const postgres = part('postgres');

/** All there are but three: valid data may be refused for what it means, and what takes another method is not there [BFF-8]. */
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'missing_required_header',
  'use_after_free',
  'ensure_resource_availability',
  'ignored_auth',
  'object_level_authorization',
];
/**
 * Neither the endless stream, nor the document the others are read from, nor a question that only a tool can ask, nor what only an answer
 * that was too large leaves behind. Sources are not tried with made-up data either: they start programs and connect to addresses.
 * `sources.test.ts` and `artifacts.test.ts` do all of these by hand. An approval has to name the hash that was seen, which nobody
 * guesses; `pinning.test.ts` does it by hand. Connections are begun at the authorization server of a source and finished by a browser
 * that comes back from it; `connections.test.ts` has both. A configuration that is applied would delete what the other operations are tried
 * with, and start programs; `configuration.test.ts` does it by hand. A tool's id is not guessed either; `utcp-client.test.ts` has them.
 */
const untriedPaths =
  /^\/api\/(bff\/sse$|bff\/utcp\/|openapi\.json$|sources|connections\/|user-connections$|bff\/calls\/\{id\}\/(elicitations|artifacts)|tools\/\{id\}\/approve$|config\/apply$)/;

interface Recorder {
  cases: Record<string, { value: { method: string; path: string } }>;
  interactions: Record<string, { response: { status_code: number } | null }>;
}

/** Data to find: groups, policies, calls with several outcomes, a running one, and changes. */
async function seed(admin: ApiClient): Promise<void> {
  await admin.post('/api/groups', { id: 'seeded', name: 'Seeded', selectors: [{ tags: ['time'] }] });
  await admin.post('/api/policies', { id: 'seeded', name: 'Seeded', matchers: [{ path: 'sub', operator: 'exists' }], groups: ['seeded'] });
  await admin.patch('/api/tools/builtin:uuid', { labels: { risk: 'low' } });
  await admin.call('builtin:uuid');
  await admin.call('builtin:calculator', { expression: '1 / 0' });
  await admin.call('no:such');
  await admin.call('builtin:wait', { seconds: 300 }, { async: true });
}

async function runSchemathesis(command: string, url: string, token: string) {
  await using directory = await temporaryDirectory();
  const config = join(directory.path, 'schemathesis.toml');
  const report = join(directory.path, 'report.ndjson');
  await writeFile(
    config,
    `headers = { Authorization = "Bearer ${token}" }\n[checks.negative_data_rejection]\nexpected-statuses = [400, 401, 403, 404, 409, 413, 422, 429]\n`,
  );
  const options = {
    checks: checks.join(','),
    'exclude-path-regex': '/api/(bff/sse|sources|connections/|config/apply)',
    'max-examples': '20',
    'request-timeout': '20',
    workers: '1',
    'report-ndjson-path': report,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  // Deterministic: what is green for one commit is green for everybody.
  const child = spawn(command, ['--config-file', config, 'run', `${url}/api/openapi.json`, ...args, '--generation-deterministic'], {
    cwd: directory.path,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, output: Buffer.concat(output).toString(), succeeded: succeededIn(await readFile(report, 'utf8')) };
}

/** Every operation that was answered with a 2xx at least once, by its method and path. */
function succeededIn(report: string): Set<string> {
  const succeeded = new Set<string>();
  for (const line of report.split('\n').filter((text) => text !== '')) {
    const { ScenarioFinished: scenario } = JSON.parse(line) as { ScenarioFinished?: { recorder: Recorder } };
    for (const [id, { response }] of Object.entries(scenario?.recorder.interactions ?? {})) {
      const asked = scenario?.recorder.cases[id]?.value;
      if (asked !== undefined && response !== null && Math.floor(response.status_code / 100) === 2) {
        succeeded.add(`${asked.method} ${asked.path}`);
      }
    }
  }
  return succeeded;
}

describe.skipIf(!schemathesis.available)('[BFF-7] the server follows its own OpenAPI document, whatever it is sent,', () => {
  /** The findings of Schemathesis, the operations it never got to work, and whether the server is healthy afterwards. */
  async function check(databaseUrl?: string) {
    // No call may take long, however long it was asked to wait.
    await using server = await startTestServer({ databaseUrl, defaultTimeoutMs: 500, maxTimeoutMs: 500 });
    const admin = await server.as('admin');
    await seed(admin);
    const command = schemathesis.available ? schemathesis.url : '';
    const { exitCode, output, succeeded } = await runSchemathesis(command, server.url, admin.token ?? '');
    const documented = (await documentedOperations(server.url)).map(({ method, path }) => `${method} ${path}`);
    const untried = documented.filter((operation) => !succeeded.has(operation) && !untriedPaths.test(operation.split(' ')[1] ?? ''));
    const statuses = [(await admin.get('/api/bff/tools')).status, (await admin.get('/readyz')).status];
    return { exitCode, failures: exitCode === 0 ? '' : output, untried, statuses };
  }
  const nothingFound = { exitCode: 0, failures: '', untried: [], statuses: [200, 200] };

  test('on SQLite', async () => expect(await check()).toEqual(nothingFound), 900_000);

  test.skipIf(!postgres.available)(
    'on PostgreSQL',
    async () => {
      await using database = await freshPostgresDatabase();
      expect(await check(database.url)).toEqual(nothingFound);
    },
    900_000,
  );

  test('by hand: for the document and the endless stream', async () => {
    await using server = await startTestServer();
    const { paths } = (await server.client().get('/api/openapi.json')).json;
    const { responses, parameters } = paths['/api/bff/sse'].get;
    expect(Object.keys(responses['200'].content)).toEqual(['text/event-stream']);
    expect(parameters.map(({ name }: { name: string }) => name)).toEqual(['Last-Event-ID']);
    const refused = await server.client().get('/api/bff/sse');
    expect(responses[String(refused.status)].content).toHaveProperty('application/json');
    const unread = await (await server.as('alice')).get('/api/bff/sse?from=1');
    expect(responses[String(unread.status)].content).toHaveProperty('application/json');
    await using stream = await (await server.as('alice')).follow({ 'last-event-id': '\u00e9'.repeat(100) });
    expect([stream.response.status, stream.response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect((await stream.next())?.event).toBe('connected');
  });
});
