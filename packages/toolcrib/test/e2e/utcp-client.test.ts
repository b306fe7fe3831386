import '@utcp/http';
import { UtcpClient, UtcpManualSchema } from '@utcp/sdk';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { utcpManualSchema } from '../../src/api.ts';
import { bodyFieldOf } from '../../src/http/utcp-arguments.ts';
import { utcpSchema } from '../../src/http/utcp-schema.ts';
import { documentOf, operation, startDocumentService } from '../fixtures/document-service.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';

const parameter = (name: string, schema: object, place = 'query') => ({ name, in: place, required: place === 'path', schema });
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const paths = {
  '/things/{id}': {
    put: operation('putThing', {
      parameters: [
        parameter('id', { type: 'string' }, 'path'),
        parameter('limit', { type: 'integer' }),
        parameter('exact', { type: 'boolean' }),
        parameter('tags', { type: 'array', items: { type: 'string' } }),
        parameter('X-Note', { type: 'string' }, 'header'),
      ],
      requestBody: json({ type: 'object' }),
    }),
    delete: operation('removeThing', { parameters: [parameter('id', { type: 'string' }, 'path')] }),
  },
};

let server: OpenServer;
let service: Awaited<ReturnType<typeof startDocumentService>>;
let client: UtcpClient;

/** The configuration that a person writes: the address of the manual, and their token in the variables that the client derives from its name. */
const manualAt = (url: string) => ({
  name: 'toolcrib',
  call_template_type: 'http',
  url,
  auth: { auth_type: 'api_key', api_key: 'Bearer ${TOOLCRIB_TOKEN}', var_name: 'Authorization', location: 'header' },
});
async function clientOf(token: string, url: string): Promise<UtcpClient> {
  const made = await UtcpClient.create(process.cwd(), { variables: { toolcrib_TOOLCRIB_TOKEN: token } } as never);
  const { success, errors } = await made.registerManual(manualAt(url));
  expect([success, errors]).toEqual([true, []]);
  return made;
}
const namesOf = async (of: UtcpClient) => (await of.getTools()).map(({ name }) => name);
const callTool = (name: string, args: object) => client.callTool(`toolcrib.${name}`, args as Record<string, unknown>);
/** Status and body of the error that the client throws. */
const refused = async (name: string, args: object) =>
  callTool(name, args).then(
    () => expect.fail('It was answered'),
    ({ response }: { response: { status: number; data: unknown } }) => [response.status, response.data],
  );

beforeAll(async () => {
  // The client tells on the console what it does.
  for (const method of ['log', 'warn', 'error'] as const) vi.spyOn(console, method).mockImplementation(() => undefined);
  [server, service] = await Promise.all([startOpenServer(), startDocumentService(documentOf(paths))]);
  await Promise.all([
    server.admin.post('/api/sources?wait=60000', { name: 'One', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' }),
    server.admin.post('/api/sources?wait=60000', { name: 'Things', source_type: 'openapi', openapi: { url: service.url } }),
  ]);
  client = await clientOf(server.alice.token ?? '', `${server.url}/api/utcp`);
});
afterAll(async () => {
  vi.restoreAllMocks();
  await server[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

test('[UTCP-1] the public client loads the manual unchanged, and finds every tool by its name behind that of its server', async () => {
  const listed = await server.alice.listedNames();
  expect(await namesOf(client)).toEqual(listed.map((name) => `toolcrib.${name.replace(':', '.')}`));
  const sameFromList = await clientOf(server.alice.token ?? '', `${server.url}/api/bff/tools?format=utcp`);
  expect(await namesOf(sameFromList)).toEqual(await namesOf(client));
});

test("[UTCP-1] a tool's own schema stays unchanged", async () => {
  const { json: list } = await server.alice.get('/api/bff/tools');
  const add = list.tools.find(({ name }: { name: string }) => name === 'one:add');
  expect(await client.getTool('toolcrib.one.add')).toMatchObject({
    description: add.description,
    inputs: add.input_schema,
    outputs: add.output_schema ?? {},
  });
});

test('[UTCP-1] tools of every kind can be called with their own arguments, and return their result', async () => {
  expect(await callTool('builtin.calculator', { expression: '6 * 7' })).toEqual({ result: 42 });
  expect(await callTool('one.add', { a: 2, b: 40 })).toEqual({ sum: 42 });
  expect(await callTool('one.echo', { text: 'Grüße & more' })).toBe('Grüße & more');
  expect(await callTool('things.removeThing', { id: 'a/b?c' })).toEqual({ method: 'DELETE', path: '/things/a%2Fb%3Fc', body: null });
});

test('[UTCP-1] arguments keep their type: numbers, lists, objects, texts that look like something else', async () => {
  const sent = {
    id: '007',
    limit: 3,
    exact: false,
    tags: ['a', '1'],
    'X-Note': 'true',
    body: { n: 1, s: '1', list: [], deep: { a: [null] } },
  };
  expect(await callTool('things.putThing', sent)).toEqual({
    method: 'PUT',
    path: '/things/007?limit=3&exact=false&tags=a&tags=1',
    body: sent.body,
  });
  expect(service.seen.at(-1)?.headers['x-note']).toBe('true');
  for (const text of ['42', '{"a": 1}', ' spaced ', 'null', '', 'x'.repeat(200_000)]) {
    const { json: answer } = await server.alice.call('builtin:hash', { text });
    expect(await callTool('builtin.hash', { text })).toEqual(answer.result);
  }
});

test('[UTCP-1] the body is the argument that needs it most, and never one that a client would take for a variable', () => {
  const field = (properties: object) => bodyFieldOf({ type: 'object', properties } as never);
  const [text, list, object] = [{ type: 'string' }, { type: 'array' }, { $ref: '#/$defs/x' }];
  expect(field({ path: text, content: text, tags: list })).toEqual({ name: 'content', content_type: 'text/plain' });
  expect(field({ tags: list, filter: object, name: text })).toEqual({ name: 'filter', content_type: 'application/json' });
  expect(field({ a: text, b: text, limit: { type: 'integer' } })).toEqual({ name: 'b', content_type: 'text/plain' });
  expect(field({ $filter: text, '${HOME}': object })).toBeUndefined();
});

test('[UTCP-1] content that is not text is returned as it is', async () => {
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
  expect(await callTool('one.give', { result: { content: [image] } })).toEqual(image);
  const mixed = [{ type: 'text', text: 'see' }, image];
  expect(await callTool('one.give', { result: { content: mixed } })).toEqual(mixed);
});

test('[UTCP-1] a failure has the status and message of its error, and every call is recorded', async () => {
  expect(await refused('one.fail', { text: 'no such file' })).toMatchObject([422, { message: expect.stringContaining('no such file') }]);
  expect(await refused('builtin.calculator', {})).toMatchObject([400, { code: 'VALIDATION_ERROR' }]);
  // A number that JavaScript cannot hold is refused, and not sent as another one.
  expect(await refused('things.putThing', { id: 'a', limit: '9007199254740993' })).toMatchObject([400, { code: 'VALIDATION_ERROR' }]);
  const recorded = async () => (await server.admin.get('/api/calls?status=failed')).json.calls.map(({ tool }: { tool: string }) => tool);
  await expect.poll(recorded).toEqual(['things:putThing', 'builtin:calculator', 'one:fail']);
});

test('[UTCP-1] a manual lets nobody call a forbidden tool, or call without a token', async () => {
  const { json: manual } = await server.alice.get('/api/utcp');
  const { url } = manual.tools.find(({ name }: { name: string }) => name === 'builtin.uuid').tool_call_template;
  const call = (token?: string) => fetch(url, { method: 'POST', headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
  expect((await call()).status).toBe(401);
  await server.admin.patch('/api/tools/builtin:uuid', { hidden: true });
  expect((await call(server.alice.token)).status).toBe(404);
  await server.admin.patch('/api/tools/builtin:uuid', { hidden: false });
  expect((await call(server.alice.token)).status).toBe(200);
});

test('[UTCP-1] [BFF-1] the manual is complete, has an ETag, and can be narrowed', async () => {
  const { json: manual, headers } = await server.alice.get('/api/utcp');
  expect(Object.keys(utcpManualSchema.parse(manual))).toEqual(['utcp_version', 'manual_version', 'tools']);
  const etag = headers.get('etag') ?? '';
  expect((await server.alice.get('/api/utcp', { 'if-none-match': etag })).status).toBe(304);
  const { json: group } = await server.alice.get('/api/utcp?group=builtin-tools');
  expect(group.tools.length).toBeLessThan(manual.tools.length);
  for (const page of ['limit=2', 'cursor=x']) {
    expect(await server.alice.get(`/api/bff/tools?format=utcp&${page}`)).toMatchObject({ status: 400, json: { code: 'VALIDATION_ERROR' } });
  }
});

test('[UTCP-1] [BFF-7] addresses in the manual are those under which callers reach the server', async () => {
  await using behind = await startOpenServer({ publicUrl: 'https://tools.example.com/crib/' });
  const { json: manual } = await behind.alice.get('/api/utcp');
  for (const { tool_call_template: template } of manual.tools) expect(template.url).toMatch(/^https:\/\/tools\.example\.com\/crib\/api\//);
  const { json: document } = await behind.alice.get('/api/openapi.json');
  expect(document.servers).toEqual([{ url: 'https://tools.example.com/crib' }]);
});

test('[UTCP-1] the client accepts the manual whatever schema a tool server gives', () => {
  const keywords = 'type properties items required enum const additionalProperties pattern minimum title description anyOf'.split(' ');
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 1 }),
      fc.dictionary(fc.constantFrom(...keywords), tie('schema'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(schema, (given) => {
      const tool = {
        name: 'a',
        inputs: utcpSchema(given as never),
        tool_call_template: { call_template_type: 'http', url: 'https://x.example' },
      };
      expect(UtcpManualSchema.safeParse({ tools: [tool] })).toMatchObject({ success: true });
    }),
  );
});
