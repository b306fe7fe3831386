import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bookPaths, documentOf, startDocumentService } from '../fixtures/document-service.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { startTestServer, temporaryDirectory, until } from '../running-server.ts';

let server: OpenServer;
beforeAll(async () => {
  server = await startOpenServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const plan = (sources: object) => server.admin.post('/api/config/plan', { sources });
const apply = (sources: object) => server.admin.post('/api/config/apply', { sources });
const toolsOf = async (namespace: string) => (await server.alice.listedNames()).filter((name) => name.startsWith(`${namespace}:`)).sort();
const actionsIn = (json: { changes: { id: string; action: string }[] }) => json.changes.map(({ id, action }) => `${action} ${id}`);

test('[SRC-6] [SRC-5] documents can be sources of a configuration file, with a choice of their tools', async () => {
  await using service = await startDocumentService();
  const text = JSON.stringify(documentOf(bookPaths, { servers: [{ url: service.origin }] }));
  const sources = {
    fetched: { source_type: 'openapi', openapi: { url: service.url }, tools: { include: [{ tags: ['reading'] }] } },
    pasted: { source_type: 'openapi', openapi: { text }, tools: { exclude: [{ methods: ['DELETE'] }, 'add*'] } },
  };
  const planned = await plan(sources);
  expect([planned.status, actionsIn(planned.json)]).toEqual([200, ['create fetched', 'create pasted']]);
  expect(planned.json.changes[0].fields).toContainEqual({ field: 'document', before: null, after: { url: service.url } });
  expect((await apply(sources)).json.changes.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['done', 'done']);
  await until(async () => (await toolsOf('fetched')).length === 2 && (await toolsOf('pasted')).length === 2);
  expect([...(await toolsOf('fetched')), ...(await toolsOf('pasted'))]).toEqual(
    ['fetched', 'pasted'].flatMap((namespace) => [`${namespace}:getBook`, `${namespace}:listBooks`]),
  );
  // The same again is nothing to do; another choice is.
  expect((await plan(sources)).json.changes).toEqual([]);
  const wider = { ...sources, fetched: { ...sources.fetched, tools: {} } };
  expect((await plan(wider)).json.changes).toMatchObject([
    { id: 'fetched', action: 'change', fields: [{ field: 'tools.include', after: [] }] },
  ]);
  await apply(wider);
  await until(async () => (await toolsOf('fetched')).length === 4);
  expect(actionsIn((await apply({})).json).sort()).toEqual(['delete fetched', 'delete pasted']);
});

test('[SRC-6] a setting that cannot be in a file is refused with its place', async () => {
  const document = { source_type: 'openapi', openapi: { text: '{}' } };
  const cases: [object, string][] = [
    [{ ...document, credential: { type: 'bearer', token: 'a-secret' } }, 'sources.shop.credential.token'],
    [{ ...document, openapi: {} }, 'sources.shop.openapi'],
    [{ ...document, source_type: 'soap' }, 'sources.shop.source_type'],
    [{ ...document, mcp_args: [] }, 'sources.shop.mcp_args'],
  ];
  for (const [shop, field] of cases) {
    const { status, json } = await plan({ shop });
    expect({ status, field: json.field }).toEqual({ status: 400, field });
  }
});

test('[SRC-6] the path of a document is relative to the configuration file', async () => {
  await using folder = await temporaryDirectory();
  await writeFile(join(folder.path, 'openapi.json'), JSON.stringify(documentOf(bookPaths, { servers: [{ url: 'http://127.0.0.1:9' }] })));
  const configFile = join(folder.path, 'toolcrib.yaml');
  await writeFile(configFile, 'sources:\n  shelf:\n    source_type: openapi\n    openapi: { file: ./openapi.json }\n');
  await using started = await startTestServer({ configFile });
  const admin = await started.as('admin');
  const shelf = async () => (await admin.get('/api/sources/shelf')).json;
  await until(async () => (await shelf()).status.state !== 'starting');
  expect(await shelf()).toMatchObject({
    status: { state: 'running', tools: 4 },
    definition: { document: { file: join(folder.path, 'openapi.json') } },
    managed_by: 'file',
  });
});
