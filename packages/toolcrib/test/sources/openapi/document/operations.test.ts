import { describe, expect, test } from 'vitest';
import { importReportSchema } from '../../../../src/model/import-report.ts';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import { compiled, documentOf } from './compiled.ts';

describe('[OAS-1] every operation is a tool', () => {
  const paths = {
    '/pets': {
      summary: 'Not an operation',
      parameters: [],
      get: { operationId: 'listPets', tags: ['pet', 7], summary: 'Lists pets', description: 'All of them.', deprecated: true },
      head: {},
      post: { callbacks: { onData: { '{$request.body#/url}': { post: {} } } } },
    },
    '/pets/{id}': { put: { summary: 'Replaces', description: 'Replaces a pet.' }, delete: {}, patch: {}, options: {}, trace: {} },
    'x-note': { get: {} },
  };
  const document = documentOf({}, { paths, webhooks: { newPet: { post: {} } } });

  test('except for webhooks and callbacks', () => {
    const { tools, report } = compiled(document);
    expect(tools.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /pets',
      'POST /pets',
      'HEAD /pets',
      'PUT /pets/{id}',
      'DELETE /pets/{id}',
      'OPTIONS /pets/{id}',
      'PATCH /pets/{id}',
      'TRACE /pets/{id}',
    ]);
    expect(report).toMatchObject({ format: '3.0.3', operations: 8, tools: 8, skipped: [], servers: ['https://api.example'] });
    expect(() => importReportSchema.parse({ ...report, bytes: 0, external_refs: [] })).not.toThrow();
  });

  test('and a document of webhooks alone is refused, one of nothing reported', () => {
    const webhooks = { newPet: { post: { responses: {} } } };
    expect(() => compiled(documentOf({}, { openapi: '3.1.0', paths: {}, webhooks }))).toThrow(
      'The document describes only webhooks, which are requests that the service sends. It has no operations to call',
    );
    expect(compiled(documentOf({}, { openapi: '3.1.0', paths: {} })).report).toMatchObject({
      tools: 0,
      warnings: [{ operation: null, message: 'The document describes no operations, so it has no tools' }],
    });
  });

  test('[OAS-5] with its tags, method and path, and the hints of its method', () => {
    const tools = new Map(compiled(document).tools.map((tool) => [`${tool.method}`, tool]));
    expect(tools.get('GET')).toMatchObject({
      tags: ['pet'],
      path: '/pets',
      version: '1',
      execution_mode: 'sync_http',
      definition: { name: 'listPets', title: 'Lists pets', description: 'Deprecated.\n\nLists pets.\n\nAll of them.' },
    });
    expect(tools.get('PUT')?.definition).toMatchObject({ title: 'Replaces', description: 'Replaces a pet.' });
    expect(tools.get('PATCH')?.definition.description).toBe('PATCH /pets/{id}');
    const hints = Object.fromEntries([...tools].map(([method, { definition }]) => [method, definition.annotations]));
    const readOnly = { readOnlyHint: true, openWorldHint: true };
    expect(hints).toEqual({
      GET: readOnly,
      HEAD: readOnly,
      OPTIONS: readOnly,
      TRACE: readOnly,
      PUT: { idempotentHint: true, openWorldHint: true },
      DELETE: { idempotentHint: true, destructiveHint: true, openWorldHint: true },
      POST: { openWorldHint: true },
      PATCH: { openWorldHint: true },
    });
  });

  test('including those of 3.2, with their own methods', () => {
    const paths = { '/a': { query: {}, additionalOperations: { COPY: {}, 'BAD METHOD': {}, CONNECT: {} } } };
    const { tools, report } = compiled(documentOf({}, { openapi: '3.2.0', paths }));
    expect(tools.map(({ method }) => method)).toEqual(['QUERY', 'COPY']);
    expect(report.skipped.map(({ operation }) => operation)).toEqual(['BAD METHOD /a', 'CONNECT /a']);
  });

  test.each<[string, string, JsonObject, RegExp]>([
    ['a parameter without a name', '/a', { parameters: [{ in: 'query', required: true }] }, /has no name/],
    [
      'a parameter nowhere',
      '/a',
      { parameters: [{ in: 'body', name: 'a' }] },
      /is in "body": use path, query, querystring, header, cookie/,
    ],
    ['a parameter that is nothing', '/a', { parameters: [null] }, /is not an object/],
    ['a parameter from nowhere', '/a', { parameters: [{ $ref: '#/components/parameters/No' }] }, /refers to #\/components\/parameters\/No/],
    ['a parameter from elsewhere', '/a', { parameters: [{ $ref: 'other.yaml#/P' }] }, /other\.yaml#\/P.*external_refs/],
    [
      'a body from elsewhere',
      '/a',
      { requestBody: { content: { 'application/json': { schema: { $ref: 'a.json' } } } } },
      /a\.json.*external_refs/,
    ],
    ['a body without a type', '/a', { requestBody: { required: true, content: {} } }, /no media type/],
    ['a path that climbs', '/a/../b', {}, /has \. or \.\./],
    ['a path that climbs in percent', '/a/%2e%2e/b', {}, /has \. or \.\./],
    ['a path with a line break', '/a\r\nHost: evil', {}, /control character/],
    ['a path with parameters in a query', '/a?b={c}', {}, /query with parameters/],
    ['a path with a fragment in the middle', '/a#env/b', {}, /# in the middle/],
    ['a path with a brace too many', '/a/{b', {}, /braces/],
    ['no path', 'a', {}, /begin with a slash/],
    ['a required header that cannot be one', '/a', { parameters: [{ in: 'header', name: 'a b', required: true }] }, /name of a header/],
    [
      'a huge enumeration',
      '/a',
      { parameters: [{ in: 'query', name: 'a', schema: { enum: Array.from({ length: 100_000 }, (_, i) => `value ${i}`) } }] },
      /more than 512 KiB/,
    ],
  ])('[OAS-1] and %s costs one operation, not the document', (_, path, operation, reason) => {
    const { tools, report } = compiled(documentOf({}, { paths: { [path]: { post: operation }, '/good': { get: {} } } }));
    expect(tools.map(({ path }) => path)).toEqual(['/good']);
    expect(report.skipped).toEqual([{ operation: expect.stringMatching(/^POST /), reason: expect.stringMatching(reason) }]);
  });

  describe('even if it is only referenced', () => {
    const list = { operationId: 'list', summary: 'Lists', parameters: [{ in: 'query', name: 'limit', schema: {} }], responses: {} };
    const at = (operation: Json, more: JsonObject = {}) => compiled(documentOf({}, { paths: { '/a': { get: operation } }, ...more }));

    test('inside the document, along a chain, with fields beside the reference', () => {
      const more = { 'x-operations': { list, other: { $ref: '#/x-operations/list' } } };
      const { tools } = at({ $ref: '#/x-operations/other', summary: 'Lists all' }, more);
      expect(tools).toMatchObject([{ definition: { name: 'list', title: 'Lists all', input_schema: { properties: { limit: {} } } } }]);
    });

    test('by all paths at once', () => {
      const { tools } = compiled(documentOf({}, { paths: { $ref: '#/x-paths' }, 'x-paths': { '/a': { get: list } } }));
      expect(tools).toMatchObject([{ path: '/a', definition: { name: 'list' } }]);
    });

    test.each<[string, Json, RegExp]>([
      ['to itself', { $ref: '#/paths/~1a/get' }, /refers to itself/],
      ['to nothing', { $ref: '#/x-operations/none' }, /#\/x-operations\/none, which does not exist/],
      ['to a file that may not be read', { $ref: 'operations/list.yml' }, /operations\/list\.yml.*external_refs/],
      ['to a schema', { $ref: '#/components/schemas/Thing' }, /"#\/components\/schemas\/Thing", which is not an operation/],
      ['to a path', { $ref: '#/x-path' }, /"#\/x-path", which is not an operation/],
      ['to text', { $ref: '#/info/title' }, /is not an object/],
      ['to a number', { $ref: 5 }, /refers to 5, which is not an operation/],
      ['is text', 'list.yml', /is not an object/],
      ['is a list', [list], /is not an object/],
    ])('except for an operation that refers %s, which is reported', (_, operation, reason) => {
      const schemas = { Thing: { type: 'object', description: 'A thing', deprecated: true } };
      const { tools, report } = at(operation, { components: { schemas }, 'x-path': { parameters: [], get: list } });
      expect(tools).toEqual([]);
      expect(report.skipped).toEqual([{ operation: 'GET /a', reason: expect.stringMatching(reason) }]);
    });

    test('except for paths in other documents that may not be read, which are reported', () => {
      const { report } = compiled(documentOf({}, { paths: { $ref: 'paths.yml' } }));
      expect(report.skipped).toEqual([{ operation: '* *', reason: expect.stringMatching(/paths\.yml.*external_refs/) }]);
    });
  });

  test('[SEC-1] up to the memory that the gateway gives a source', () => {
    const parameters = [{ in: 'query', name: 'a', schema: { enum: Array.from({ length: 1000 }, () => ({ 34: 0 })) } }];
    const paths = Object.fromEntries(Array.from({ length: 3 }, (_, i) => [`/p${i}`, { get: { parameters } }]));
    const { tools, report } = compiled(documentOf({}, { paths: { ...paths, '/good': { get: {} } } }), { mostValues: 5000 });
    expect(tools.map(({ path }) => path)).toEqual(['/p0', '/p1', '/good']);
    const reason = 'The tools of a source can have at most 5000 values in their schemas';
    expect(report.skipped).toEqual([{ operation: 'GET /p2', reason }]);
  });
});
