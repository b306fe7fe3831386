import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../src/net/free-port.ts';
import { bookPaths, documentOf, operation, startDocumentService } from '../fixtures/document-service.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { temporaryDirectory, until } from '../running-server.ts';

let server: OpenServer;
beforeAll(async () => {
  server = await startOpenServer();
});
afterAll(() => server[Symbol.asyncDispose]());

let count = 0;
/** A registration under a namespace of its own. */
function formOf(openapi: object, more: object = {}) {
  const namespace = `shelf-${++count}`;
  return { name: 'Shelf', namespace, source_type: 'openapi', openapi, ...more };
}
/** Registers it, and waits until it runs or has failed. */
async function register(openapi: object, more: object = {}) {
  const body = formOf(openapi, more);
  const { status, json } = await server.admin.post('/api/sources?wait=20000', body);
  return { status, json, namespace: body.namespace, body, path: `/api/sources/${json.id}` };
}
const refresh = (path: string) => server.admin.post(`${path}/refresh`, undefined);
const sourceAt = async (path: string) => (await server.admin.get(path)).json;
const logOf = async (path: string) =>
  (await server.admin.get(`${path}/logs`)).json.lines.map(({ text }: { text: string }) => text) as string[];
const toolsOf = async (namespace: string) =>
  (await server.alice.listedNames())
    .filter((name) => name.startsWith(`${namespace}:`))
    .map((name) => name.slice(namespace.length + 1))
    .sort();

test('[SRC-5] a service is added by the address of its document, and its operations are called', async () => {
  await using service = await startDocumentService();
  const { status, json, namespace, path } = await register({ url: service.url });
  expect(status).toBe(201);
  expect(json).toMatchObject({
    source_type: 'openapi',
    definition: { document: { url: service.url }, server_url: null },
    status: { state: 'running', tools: 4 },
    server: { name: 'Shelf', version: '1.0.0' },
    import: { operations: 4, tools: 4, skipped: [], skipped_total: 0 },
  });
  expect(await toolsOf(namespace)).toEqual(['addBook', 'getBook', 'listBooks', 'removeBook']);
  const { json: answer } = await server.alice.call(`${namespace}:getBook`, { id: 'a b' });
  expect(answer).toMatchObject({ status: 'completed' });
  expect(service.seen).toMatchObject([{ method: 'GET', path: '/books/a%20b' }]);
  expect((await sourceAt(path)).health).toBe('healthy');
  expect(await logOf(path)).toContain('4 operations, 4 tools, 0 skipped');
});

test('[SRC-5] a pasted document is stored beside the source, and a replacement that gives none keeps it', async () => {
  await using service = await startDocumentService(null);
  const text = JSON.stringify(documentOf(bookPaths, { servers: [{ url: service.origin }] }));
  const { json, path, body, namespace } = await register({ text });
  expect(json).toMatchObject({
    status: { state: 'running', tools: 4 },
    definition: { document: { stored: expect.stringMatching(/^[0-9a-f]{64}$/) } },
  });
  expect(JSON.stringify(json)).not.toContain('listBooks');
  const replaced = await server.admin.put(path, { ...body, openapi: {}, tools: { include: ['list*'] } });
  expect(replaced.status).toBe(200);
  await until(async () => (await toolsOf(namespace)).length === 1);
  expect(service.fetches).toEqual([]);
});

test('[SRC-5] a document in a file of this machine is read again by a refresh', async () => {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, 'openapi.json');
  const write = (paths: typeof bookPaths) =>
    writeFile(file, JSON.stringify(documentOf(paths, { servers: [{ url: 'http://127.0.0.1:9' }] })));
  await write({ '/books': { get: operation('listBooks') } });
  const { json, path, namespace } = await register({ file });
  expect(json).toMatchObject({ status: { state: 'running', tools: 1 } });
  await write(bookPaths);
  expect((await refresh(path)).json).toMatchObject({ report: { added: ['addBook', 'getBook', 'removeBook'] }, import: { tools: 4 } });
  expect(await toolsOf(namespace)).toHaveLength(4);
});

test('[SRC-5] a file may refer to the listed files beside it, and to no other', async () => {
  await using folder = await temporaryDirectory();
  const [inside, outside] = [join(folder.path, 'api', 'schemas'), folder.path];
  await mkdir(inside, { recursive: true });
  await writeFile(join(inside, 'book.json'), JSON.stringify({ type: 'object', properties: { title: { type: 'string' } } }));
  await writeFile(join(outside, 'secret.json'), JSON.stringify({ type: 'string' }));
  const withRef = (id: string, $ref: string) => operation(id, { requestBody: { content: { 'application/json': { schema: { $ref } } } } });
  const paths = { '/a': { post: withRef('allowed', 'schemas/book.json') }, '/b': { post: withRef('climbing', '../secret.json') } };
  const file = join(folder.path, 'api', 'openapi.json');
  await writeFile(file, JSON.stringify(documentOf(paths, { servers: [{ url: 'http://127.0.0.1:9' }] })));
  const { json, namespace } = await register({ file, external_refs: ['schemas/', '../'] });
  const read = json.import.external_refs as string[];
  expect(read.map((address) => address.slice(address.lastIndexOf('/') + 1))).toEqual(['book.json']);
  expect(json.import.warnings[0].message).toMatch(/secret\.json could not be read: A document may only refer to files in its own folder/);
  expect(await toolsOf(namespace)).toContain('allowed');
});

test('[SRC-10] an invalid registration is refused with its field', async () => {
  const cases: [object, object, string][] = [
    [{}, {}, 'openapi'],
    [{ url: 'https://a.example/openapi.json', text: '{}' }, {}, 'openapi.text'],
    [{ url: 'ftp://a.example/openapi.json' }, {}, 'openapi.url'],
    [{ url: 'http://169.254.169.254/openapi.json' }, {}, 'openapi.url'],
    [{ url: 'https://user:secret@a.example/openapi.json' }, {}, 'openapi.url'],
    [{ file: 'openapi.json' }, {}, 'openapi.file'],
    [{ text: ' ' }, {}, 'openapi.text'],
    [{ text: '{}', server_url: 'https://a.example/v1?key=1' }, {}, 'openapi.server_url'],
    [{ text: '{}', server_url: 'https://a.example/{tenant}' }, {}, 'openapi.server_url'],
    [{ text: '{}' }, { credential: { type: 'caller_token' } }, 'openapi.server_url'],
    [{ text: '{}' }, { credential: { type: 'oauth' } }, 'credential.authorization_server'],
    [{ text: '{}' }, { discovery_credential: { type: 'bearer', token: 'abc' } }, 'discovery_credential'],
    [{ text: '{}', external_refs: ['file:///etc/'] }, {}, 'openapi.external_refs'],
    [{ text: '{}' }, { mcp_command: ['node'] }, 'mcp_command'],
  ];
  for (const [openapi, more, field] of cases) {
    const { status, json } = await server.admin.post('/api/sources', formOf(openapi, more));
    expect({ status, code: json.code, field: json.field }).toEqual({ status: 400, code: 'VALIDATION_ERROR', field });
  }
  const { json } = await server.admin.post('/api/sources', { ...formOf({ text: '{}' }), source_type: 'grpc' });
  expect(json).toMatchObject({ code: 'VALIDATION_ERROR', field: 'source_type' });
});

test('a document that does not exist yet is an error, and is found by a later start', async () => {
  await using service = await startDocumentService(null);
  const { json, path } = await register({ url: service.url });
  expect(json).toMatchObject({ status: { state: 'error', code: 'NETWORK_ERROR' }, import: null });
  service.describe('<html>Sign in</html>');
  expect((await server.admin.post(`${path}/start`, undefined)).json).toMatchObject({ code: 'VALIDATION_ERROR' });
  service.describe(documentOf(bookPaths));
  expect((await server.admin.post(`${path}/start`, undefined)).json).toMatchObject({ status: { state: 'running', tools: 4 } });
});

test('[INV-2] a refresh reports the difference, and a failed one keeps the known tools', async () => {
  await using service = await startDocumentService();
  const { path, namespace } = await register({ url: service.url });
  const { '/books': books, ...rest } = bookPaths;
  service.describe(documentOf({ ...rest, '/shelves': { get: operation('listShelves') } }));
  const { json } = await refresh(path);
  expect(json.report).toMatchObject({ added: ['listShelves'], removed: ['addBook', 'listBooks'], changed: [] });
  expect(json.import).toMatchObject({ operations: 3, tools: 3 });
  service.describe('{');
  expect((await refresh(path)).status).toBe(400);
  service.describe(null);
  expect((await refresh(path)).json).toMatchObject({ code: 'NETWORK_ERROR' });
  expect(await toolsOf(namespace)).toEqual(['getBook', 'listShelves', 'removeBook']);
  expect(books).toBeDefined();
});

test('[INV-2] known tools can be called after a restart even if the document cannot be fetched', async () => {
  await using folder = await temporaryDirectory();
  await using service = await startDocumentService();
  const form = formOf({ url: service.url }, { resilience: { restart: { maxAttempts: 5, backoffMs: 10 } } });
  const name = `${form.namespace}:listBooks`;
  {
    await using first = await startOpenServer({ dataDir: folder.path });
    expect((await first.admin.post('/api/sources?wait=20000', form)).json).toMatchObject({ status: { state: 'running' } });
  }
  service.describe(null);
  await using second = await startOpenServer({ dataDir: folder.path });
  const status = async () => (await second.admin.get(`/api/sources/${form.namespace}`)).json.status;
  await until(async () => (await status()).message !== undefined);
  expect(await status()).toMatchObject({
    state: 'running',
    tools: 4,
    message: expect.stringContaining('The last known tools stay available'),
  });
  expect((await second.alice.call(name)).json).toMatchObject({ status: 'completed' });
  service.describe(documentOf(bookPaths));
  await until(async () => (await status()).message === undefined);
  expect(await status()).toEqual({ state: 'running', tools: 4 });
});

test('an unchanged document is not imported again', async () => {
  await using service = await startDocumentService();
  const { path } = await register({ url: service.url });
  await refresh(path);
  expect((await logOf(path)).filter((line) => line.includes('operations'))).toHaveLength(1);
  expect(service.fetches).toHaveLength(2);
});

test('[SEC-1] a changed document cannot take the secrets of its source elsewhere', async () => {
  await using service = await startDocumentService();
  await using thief = await startDocumentService();
  const { path, namespace, body } = await register({ url: service.url }, { credential: { type: 'bearer', token: 'a-secret-token' } });
  await server.alice.call(`${namespace}:listBooks`);
  expect(service.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer a-secret-token']);
  service.describe(documentOf({ ...bookPaths, '/other': { servers: [{ url: thief.origin }], get: operation('elsewhere') } }));
  const { json } = await refresh(path);
  expect(json.import).toMatchObject({
    tools: 4,
    skipped_total: 1,
    skipped: [{ operation: 'GET /other', reason: expect.stringContaining(thief.origin) }],
  });
  expect(await toolsOf(namespace)).not.toContain('elsewhere');
  // Nor can whoever changes the source without knowing them.
  for (const openapi of [{ url: thief.url }, { url: service.url, server_url: thief.origin }, { text: '{}' }]) {
    const changed = { ...body, openapi, credential: { type: 'bearer', token: '***' } };
    expect((await server.admin.put(path, changed)).json).toMatchObject({ code: 'VALIDATION_ERROR', field: 'credential.token' });
  }
  const { status } = await server.admin.put(path, {
    ...body,
    openapi: { url: service.url, server_url: thief.origin },
    credential: { type: 'bearer', token: 'another-token' },
  });
  expect(status).toBe(200);
  await until(async () => (await toolsOf(namespace)).includes('elsewhere'));
  await server.alice.call(`${namespace}:listBooks`);
  expect(thief.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer another-token']);
});

test('[SEC-1] tools of an earlier document are not called with new secrets', async () => {
  await using service = await startDocumentService();
  await using other = await startDocumentService(null);
  const { path, namespace, body } = await register({ url: service.url });
  await server.admin.put(path, { ...body, openapi: { url: other.url }, credential: { type: 'bearer', token: 'for-the-other' } });
  await until(async () => (await sourceAt(path)).status.state === 'error');
  expect((await server.alice.call(`${namespace}:listBooks`)).json.status).not.toBe('completed');
  expect(service.seen).toEqual([]);
});

test('[INV-3] a tool that is moved to another path or server waits for approval', async () => {
  await using service = await startDocumentService();
  const { path, namespace } = await register({ url: service.url }, { pinning: 'quarantine' });
  const { json: first } = await server.admin.get(`${path}/differences`);
  const definition_hashes = Object.fromEntries(
    first.differences.map((one: Record<string, string>) => [one['tool_id'], one['definition_hash']]),
  );
  await server.admin.post(`${path}/approve`, { definition_hashes });
  expect(await toolsOf(namespace)).toHaveLength(4);
  service.describe(
    documentOf({
      ...bookPaths,
      '/books': { ...bookPaths['/books'], get: undefined },
      '/admin/books': { get: bookPaths['/books']?.['get'] },
    } as never),
  );
  await refresh(path);
  expect(await toolsOf(namespace)).toEqual(['addBook', 'getBook', 'removeBook']);
  const { json } = await server.admin.get(`${path}/differences`);
  const fields = json.differences[0].fields as { field: string; before: unknown; after: unknown }[];
  expect(fields.find(({ field }) => field === 'request')).toEqual({
    field: 'request',
    before: `GET ${service.origin}/books`,
    after: `GET ${service.origin}/admin/books`,
  });
});

test('[INV-5] tools are chosen by tags, methods, paths and names', async () => {
  await using service = await startDocumentService();
  const { path, body, namespace } = await register({ url: service.url }, { tools: { include: [{ tags: ['reading'] }] } });
  expect(await toolsOf(namespace)).toEqual(['getBook', 'listBooks']);
  const choose = async (tools: object) => {
    expect((await server.admin.put(path, { ...body, tools })).status).toBe(200);
    await server.admin.post(`${path}/start`, undefined);
    return toolsOf(namespace);
  };
  expect(await choose({ exclude: [{ methods: ['delete', 'post'] }] })).toEqual(['getBook', 'listBooks']);
  expect(await choose({ include: [{ paths: ['/books/*'] }, 'add*'] })).toEqual(['addBook', 'getBook', 'removeBook']);
  expect(await choose({ include: [{ paths: ['/books/*'], methods: ['GET'] }] })).toEqual(['getBook']);
  expect((await server.admin.put(path, { ...body, tools: { include: [{}] } })).json).toMatchObject({ code: 'VALIDATION_ERROR' });
});

test('[INV-6] a protected document is fetched with the discovery credential only', async () => {
  await using service = await startDocumentService();
  service.protect('Bearer for-the-document');
  const credential = { type: 'bearer', token: 'for-the-service' };
  const refused = await register({ url: service.url }, { credential, headers: { 'X-Team': 'blue' } });
  expect(refused.json.status).toMatchObject({ state: 'error', message: expect.stringContaining('discovery_credential') });
  expect(service.fetches.every(({ headers }) => headers.authorization === undefined && headers['x-team'] === undefined)).toBe(true);
  const discovery_credential = { type: 'bearer', token: 'for-the-document' };
  const { json, namespace } = await register({ url: service.url }, { credential, discovery_credential, headers: { 'X-Team': 'blue' } });
  expect(json).toMatchObject({ status: { state: 'running' }, definition: { discovery_credential: { token: '***' } } });
  await server.alice.call(`${namespace}:listBooks`);
  expect(service.seen).toMatchObject([{ headers: { authorization: 'Bearer for-the-service', 'x-team': 'blue' } }]);
});

test('[SRC-8] a preview shows the tools and the report, and saves nothing', async () => {
  await using service = await startDocumentService(
    documentOf({ ...bookPaths, '/odd': { get: { ...operation('odd'), parameters: [{ $ref: 'https://elsewhere.example/p.json' }] } } }),
  );
  const before = (await server.admin.get('/api/sources')).json.sources.length;
  const form = formOf({ url: service.url }, { tools: { include: ['get*'] } });
  const { json } = await server.admin.post('/api/sources/preview?discover=true', form);
  expect(json).toMatchObject({
    starts: null,
    missing: [],
    error: null,
    server: { name: 'Shelf' },
    import: { operations: 5, tools: 4, skipped_total: 1 },
  });
  expect(json.tools.map(({ name }: { name: string }) => name)).toEqual([`${form.namespace}:getBook`]);
  const text = JSON.stringify(documentOf(bookPaths, { servers: [{ url: service.origin }] }));
  expect((await server.admin.post('/api/sources/preview?discover=true', formOf({ text }))).json.tools).toHaveLength(4);
  const nowhere = formOf({ url: `http://127.0.0.1:${await freePort('127.0.0.1')}/openapi.json` });
  expect((await server.admin.post('/api/sources/preview?discover=true', nowhere)).json).toMatchObject({
    tools: null,
    error: { code: 'SERVICE_UNAVAILABLE' },
  });
  expect((await server.admin.get('/api/sources')).json.sources).toHaveLength(before);
});

test('a source keeps its type, and is stopped and deleted like any other', async () => {
  await using service = await startDocumentService();
  const { path, namespace } = await register({ url: service.url });
  expect((await server.admin.put(path, { name: 'Shelf', mcp_server_url: 'https://mcp.example/mcp' })).json).toMatchObject({
    code: 'CONFLICT',
    field: 'source_type',
  });
  await server.admin.post(`${path}/stop`, undefined);
  expect(await toolsOf(namespace)).toEqual([]);
  await server.admin.post(`${path}/start`, undefined);
  expect(await toolsOf(namespace)).toHaveLength(4);
  expect((await server.admin.patch(path, { enabled: false })).json.status).toEqual({ state: 'disabled' });
  expect((await server.admin.delete(path)).status).toBe(204);
  expect((await server.admin.get(path)).status).toBe(404);
});
