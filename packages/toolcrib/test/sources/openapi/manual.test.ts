import { HttpCommunicationProtocol } from '@utcp/http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import type { DiscoveredTool } from '../../../src/model/tool.ts';
import { createImportNotes } from '../../../src/sources/documents/import-notes.ts';
import { compileManual } from '../../../src/sources/openapi/manual/compile-manual.ts';
import { startHttpServer, type RunningServer } from '../../fixtures/http-server.ts';
import { openOpenApiCaller } from './openapi-caller.ts';

interface Seen {
  method: string;
  path: string;
  query: string[];
  headers: Record<string, unknown>;
  body: string;
}

let service: RunningServer;
let caller: Awaited<ReturnType<typeof openOpenApiCaller>>;
const seen: Seen[] = [];
const publicClient = new HttpCommunicationProtocol();

beforeAll(async () => {
  // The client tells on the console what it does.
  for (const method of ['log', 'warn', 'error'] as const) vi.spyOn(console, method).mockImplementation(() => undefined);
  caller = await openOpenApiCaller();
  service = await startHttpServer((request, response) => void answer(request, response));
});
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://service');
  const query = [...searchParams].map(([name, value]) => `${name}=${value}`).sort();
  const {
    host: _host,
    connection: _connection,
    'content-length': _length,
    accept: _accept,
    'user-agent': _agent,
    ...rest
  } = request.headers;
  const { 'accept-encoding': _encoding, ...headers } = rest;
  const sent = (await buffer(request)).toString();
  // A space may be written in two ways, and in which order arguments stand is nobody's business.
  const body = headers['content-type']?.includes('urlencoded') === true ? String(new URLSearchParams(sent)) : sent;
  seen.push({ method: request.method ?? '', path: pathname, query, headers, body });
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
}
afterAll(async () => {
  vi.restoreAllMocks();
  await caller[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

interface Given {
  serverUrl?: string;
  names?: string[];
}

/** In this process: what a document may do to the one it is read in is tested elsewhere. */
function compiled(manual: JsonObject, { serverUrl, names = [] }: Given = {}) {
  const tools: DiscoveredTool[] = [];
  const notes = createImportNotes();
  const give = (json: string) => void tools.push(JSON.parse(json) as DiscoveredTool);
  const { report, ...rest } = compileManual({ manual, url: null, serverUrl: serverUrl ?? null, asyncPoll: {}, notes, give, names });
  const { skipped, warnings } = notes;
  return { ...rest, tools, report: { ...report, skipped, warnings } };
}

const importedTools = (tools: JsonObject[], given?: Given) => compiled({ utcp_version: '1.0.1', manual_version: '2.1.0', tools }, given);

const toolOf = (name: string, template: JsonObject, properties: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  name,
  description: `Does ${name}`,
  inputs: { type: 'object', properties },
  tool_call_template: { call_template_type: 'http', ...template },
  ...more,
});

const text = { type: 'string' };
test.each<[string, JsonObject & { url: string }, JsonObject, JsonObject]>([
  ['arguments in the query', { url: '/weather' }, { city: text, days: { type: 'integer' } }, { city: 'Köln & Bonn', days: 3 }],
  [
    'lists and objects in the query',
    { url: '/find' },
    {},
    { tags: ['a', 'b'], where: { size: 3, color: { is: 'red' } }, on: true, no: null },
  ],
  ['a placeholder in the path', { url: '/users/{id}/posts/{post}' }, {}, { id: 'a/b ?#', post: 7, page: 2 }],
  ['placeholders in the query', { url: '/search?q={words}&kind=all' }, {}, { words: 'a b&c', limit: 1 }],
  ['a body of JSON', { url: '/things', http_method: 'POST' }, {}, { body: { a: [1, 'ü'], b: null }, dry: true }],
  ['a body by another name', { url: '/things', http_method: 'PUT', body_field: 'thing' }, {}, { thing: [1, 2], body: 'in the query' }],
  [
    'a body of text',
    { url: '/notes', http_method: 'POST', body_field: 'text', content_type: 'text/plain' },
    { text },
    { text: 'Grüße\n{"a": 1}' },
  ],
  ['a body of another text', { url: '/raw', http_method: 'PATCH', content_type: 'application/x-thing' }, {}, { body: '42' }],
  [
    'a form',
    { url: '/form', http_method: 'POST', content_type: 'application/x-www-form-urlencoded' },
    { body: { type: 'object', properties: { a: {}, list: {}, deep: {} } } },
    { body: { a: 'b c', list: [1, 2], deep: { x: { y: 1 } } } },
  ],
  [
    'headers of the template, and arguments that are headers',
    { url: '/h', http_method: 'DELETE', headers: { 'X-Fixed': 'yes' }, header_fields: ['X-Trace', 'x-number', 'X-Not-Given'] },
    {},
    { 'X-Trace': 'abc', 'x-number': 7, id: 'q' },
  ],
  [
    'a type of the body among the headers',
    { url: '/t', http_method: 'POST', headers: { 'Content-Type': 'application/vnd.x+json' } },
    {},
    { body: { a: 1 } },
  ],
])('[UTCP-1] the service sees the same request as from the public client: %s', async (_what, given, properties, args) => {
  const template = { ...given, url: `${service.origin}${given.url}` };
  const { tools, report } = importedTools([toolOf('do_it', template, properties)]);
  expect(report).toMatchObject({ format: 'UTCP 1.0.1', tools: 1, skipped: [], warnings: [] });
  seen.length = 0;
  await publicClient.callTool({} as never, 'do_it', { ...args }, { call_template_type: 'http', ...template });
  const { operation } = tools[0] ?? {};
  if (operation === undefined) throw new Error('There is no operation');
  const { structured_content: answer } = await caller.call(operation, args);
  expect(answer).toEqual({ ok: true });
  expect(seen).toHaveLength(2);
  expect(seen[1]).toEqual(seen[0]);
});

test('[UTCP-1] a tool is what the manual says, and requires the variables of its address', () => {
  const tool = toolOf(
    'shop.get_order',
    { url: 'https://api.example.org/v1/orders/{id}?part={part}' },
    { id: { type: 'integer' }, verbose: { type: 'boolean' } },
    { tags: ['orders'], outputs: { type: 'object', properties: { total: { type: 'number' } } } },
  );
  const { title, version, tools } = importedTools([tool], { names: ['shop'] });
  expect({ title, version }).toEqual({ title: 'shop', version: '2.1.0' });
  expect(tools).toMatchObject([
    {
      definition: {
        name: 'get_order',
        description: 'Does shop.get_order',
        input_schema: {
          type: 'object',
          properties: { id: { type: 'integer' }, part: { type: 'string' }, verbose: { type: 'boolean' } },
          required: ['id', 'part'],
        },
        output_schema: { type: 'object', properties: { total: { type: 'number' } } },
        annotations: { readOnlyHint: true },
      },
      tags: ['orders'],
      method: 'GET',
      path: '/v1/orders/{id}',
      operation: { server: 'https://api.example.org', rest: 'query' },
    },
  ]);
  const moved = importedTools([tool], { serverUrl: 'https://stage.example.org/x' });
  expect(moved.tools[0]?.operation).toMatchObject({ server: 'https://stage.example.org/x', path: '/v1/orders/{id}' });
});

test('[UTCP-1] the authentication of tools is reported, and a manual without any gets the credential everywhere', () => {
  const url = 'https://api.example.org/a';
  const key = { auth_type: 'api_key', api_key: '${KEY}', var_name: 'X-Key' };
  const token = { auth_type: 'api_key', api_key: 'Bearer ${T}', var_name: 'Authorization', location: 'header' };
  const client = { auth_type: 'oauth2', token_url: 'https://id.example.org/token', client_id: '${ID}', client_secret: '${S}' };
  const { tools, report } = importedTools([
    toolOf('keyed', { url, auth: key }),
    toolOf('tokened', { url, auth: token }),
    toolOf('by_client', { url, auth: client }),
    toolOf('by_name', { url, auth: { auth_type: 'basic', username: 'a', password: 'b' } }),
    toolOf('open', { url }),
  ]);
  expect(tools.map(({ operation }) => operation?.sends_credential)).toEqual([true, true, true, true, false]);
  expect(report.security.map(({ type, credential }) => [type, credential?.['type'], credential?.['token_url']])).toEqual([
    ['api_key', 'api_key', undefined],
    ['bearer', 'bearer', undefined],
    ['oauth2', 'client_credentials', 'https://id.example.org/token'],
    ['basic', 'basic', undefined],
  ]);
  // Nothing that a document says is filled in with variables of ours.
  expect(JSON.stringify(tools)).not.toContain('${');
  expect(importedTools([toolOf('open', { url })]).tools[0]?.operation?.sends_credential).toBe(true);
});

const ok = 'https://api.example.org/a';
test.each<[string, JsonObject, RegExp]>([
  ['no address', {}, /^The url must be an http or https address/],
  ['another protocol', { url: 'file:///etc/passwd' }, /^The url must be an http or https address/],
  ['a host that a caller chooses', { url: 'https://{host}/a' }, /with a fixed host/],
  ['a host that a variable chooses', { url: 'https://${HOST}/a' }, /variable/],
  ['a user in the address', { url: 'https://me:pw@api.example.org/a' }, /put the name and the password into auth/],
  ['a key in the address', { url: `${ok}?api_key=abc` }, /put it into auth/],
  ['a way up', { url: 'https://api.example.org/a/../b' }, /\.\./],
  ['half a placeholder in the query', { url: `${ok}?q=x{y}` }, /whole value/],
  ['an argument in two places', { url: `${ok}/{body}` }, /body is used in the url/],
  ['an unknown method', { url: ok, http_method: 'CONNECT' }, /http_method/],
  ['a body of no type', { url: ok, content_type: 'json\r\nX: y' }, /not a media type/],
  ['a header that belongs to the credential', { url: ok, header_fields: ['Authorization'] }, /callers may not send/],
  ['a header that is none', { url: ok, header_fields: ['a b'] }, /callers may not send/],
  ['an unknown authentication', { url: ok, auth: { auth_type: 'magic' } }, /auth_type/],
  ['another kind of call', { call_template_type: 'cli', commands: [] }, /"cli"/],
  ['an MCP server', { call_template_type: 'mcp', config: { mcpServers: { a: { command: 'x' } } } }, /toolcrib import FILE/],
])('[UTCP-1] a tool with %s is left out with the reason, and the others stay', (_what, template, reason) => {
  const { tools, report } = importedTools([toolOf('bad', template), toolOf('good', { url: ok })]);
  expect(tools.map(({ definition }) => definition.name)).toEqual(['good']);
  expect(report.skipped).toEqual([{ operation: 'bad', reason: expect.stringMatching(reason) }]);
});

test('[UTCP-1] headers that a document may not choose are not sent, and reported', () => {
  const headers = { 'X-Ok': 'yes', 'X-Secret': 'Bearer ${GITHUB_TOKEN}', Host: 'evil.example' };
  const { tools, report } = importedTools([toolOf('a', { url: ok, headers })]);
  expect(tools[0]?.operation?.headers).toEqual({ 'x-ok': 'yes' });
  expect(report.warnings.map(({ message }) => message)).toEqual([
    expect.stringContaining('X-Secret has a variable'),
    expect.stringContaining('"Host" cannot be sent'),
  ]);
});

test.each<[string, JsonObject]>([
  ['tools that are no objects', { utcp_version: '1', tools: [null, 7, [], 'x'] }],
  ['tools without names', { manual_version: '1', tools: [{}, { name: '' }, { name: '../..' }] }],
  ['inputs that are none', { utcp_version: '1', tools: [toolOf('a', { url: ok }, {}, { inputs: { type: 'string' } }), { inputs: 7 }] }],
])('[UTCP-1] a manual with %s is read to its end', (_what, manual) => {
  const { tools, report } = compiled(manual);
  expect(tools).toEqual([]);
  expect(report.skipped).toHaveLength((manual['tools'] as unknown[]).length);
});
