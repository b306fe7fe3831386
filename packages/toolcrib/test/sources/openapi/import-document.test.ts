import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { importReportSchema } from '../../../src/model/import-report.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { isolated } from '../../fixtures/isolated.ts';
import { importDocument, type DocumentInput } from '../../../src/sources/openapi/import-document.ts';

function imported(text: string | JsonObject, more: Partial<DocumentInput> = {}) {
  return importDocument({
    text: typeof text === 'string' ? text : JSON.stringify(text),
    url: new URL('https://docs.example/api/openapi.json'),
    serverUrl: null,
    serverVariables: {},
    externalRefs: [],
    load: async (url) => Promise.reject(new Error(`Nobody may read ${url.href}`)),
    asyncPoll: {},
    ...isolated,
    ...more,
  });
}

const documentWith = (paths: JsonObject, more: JsonObject = {}): JsonObject => ({
  openapi: '3.0.3',
  info: { title: 'Pets', version: '1.2' },
  servers: [{ url: 'https://api.example' }],
  paths,
  ...more,
});
const bodied = (schema: JsonObject) => ({ requestBody: { content: { 'application/json': { schema } } } });

describe('[OAS-1] the import of a document', () => {
  test('gives tools and a report', async () => {
    const text = 'openapi: 3.1.0\ninfo: {title: Pets, version: 1.2}\nservers: [{url: /v1}]\npaths:\n  /pets:\n    get: {}\n    post: 7\n';
    const { title, version, tools, report } = await imported(text);
    expect({ title, version, names: tools.map(({ definition }) => definition.name) }).toEqual({
      title: 'Pets',
      version: '1.2',
      names: ['get_pets'],
    });
    expect(importReportSchema.parse(report)).toEqual({
      format: '3.1.0',
      operations: 2,
      tools: 1,
      skipped: [{ operation: 'POST /pets', reason: 'The entry is not an object' }],
      warnings: [],
      bytes: text.length,
      tokens: expect.any(Number),
      advice: null,
      servers: ['https://docs.example/v1'],
      security: [],
      external_refs: [],
    });
  });

  test('gives the same tools every time, however much of it there is', async () => {
    const parameters = Array.from({ length: 5 }, (_, i) => ({
      in: 'query',
      name: `p${i}`,
      schema: { type: 'string' },
      description: 'x'.repeat(500),
    }));
    const paths = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`/pets/${i}`, { get: { operationId: 'same', parameters } }]));
    const [first, second] = [await imported(documentWith(paths)), await imported(documentWith(paths))];
    expect(first).toEqual(second);
    expect(new Set(first.tools.map(({ definition }) => definition.name.toLowerCase())).size).toBe(300);
    expect(first.report.advice).toContain('300 tools');
  });

  test('counts operations beyond the limit, and leaves them out', async () => {
    const paths = Object.fromEntries(Array.from({ length: 32_000 }, (_, i) => [`/p${i}`, { get: {} }]));
    const { tools, report } = await imported(documentWith(paths));
    expect(tools).toHaveLength(20_000);
    expect(report).toMatchObject({ operations: 32_000, tools: 20_000 });
    expect(report.skipped.at(-1)).toEqual({ operation: '2000 more', reason: 'Too many to list' });
  });

  test('refuses anything that is not OpenAPI, with what it looks like', async () => {
    await expect(imported('{"arazzo": "1.0.0"}')).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringMatching(/not an OpenAPI document.*type workflow/),
    });
  });

  test('warns of YAML keys that appear twice', async () => {
    const { report } = await imported('swagger: 2.0\nhost: a.example\npaths:\n  /a:\n    get: {}\n    get: {}\n');
    expect(report).toMatchObject({
      format: '2.0',
      tools: 1,
      warnings: [{ operation: null, message: expect.stringContaining('"get" is repeated') }],
    });
  });
});

describe('[OAS-1] other documents are read if that is allowed, and only then', () => {
  const files: Record<string, string> = {
    'https://docs.example/api/pet.yaml':
      'Pet:\n  type: object\n  properties:\n    owner: {$ref: "people/owner.json#/Owner"}\n    tag: {$ref: "#/Tag"}\nTag: {type: string}\n',
    'https://docs.example/api/people/owner.json':
      '{"Owner": {"type": "object", "properties": {"pet": {"$ref": "../pet.yaml#/Pet"}, "root": {"$ref": "../openapi.json#/components/schemas/Own"}}}}',
    'https://docs.example/api-keys.json': '{"type": "string"}',
  };
  const load = (asked: string[]) => async (url: URL) => {
    asked.push(url.href);
    const text = files[url.href];
    if (text === undefined) throw new Error('404');
    return Promise.resolve(text);
  };
  const document = documentWith(
    { '/pets': { post: bodied({ $ref: 'pet.yaml#/Pet' }) }, '/ok': { get: {} } },
    { components: { schemas: { Own: { type: 'integer' } } } },
  );

  test('and references lead from each to the others', async () => {
    const asked: string[] = [];
    const { tools, report } = await imported(document, { externalRefs: ['https://docs.example/api'], load: load(asked) });
    expect(asked).toEqual(['https://docs.example/api/pet.yaml', 'https://docs.example/api/people/owner.json']);
    expect(report).toMatchObject({ tools: 2, skipped: [], warnings: [], external_refs: asked });
    const definitions = tools[0]?.definition.input_schema['$defs'] as JsonObject;
    expect(Object.keys(definitions).map((name) => name.replace(/_[0-9a-f]{8}$/, ''))).toEqual(['Pet', 'Owner', 'Tag', 'Own']);
    expect(definitions['Own']).toEqual({ type: 'integer' });
  });

  test('including references to whole operations, which lead on from their own file', async () => {
    const asked: string[] = [];
    const operations: Record<string, string> = {
      'https://docs.example/api/pets/list.yml':
        'operationId: listPets\nparameters: [{$ref: "../shared.yml#/Limit"}]\nresponses: {}\nrequestBody: {$ref: "#/x-body"}\n' +
        'x-body: {content: {application/json: {schema: {$ref: "../pet.yaml#/Pet"}}}}\n',
      'https://docs.example/api/shared.yml': 'Limit: {in: query, name: limit, schema: {type: integer}}\n',
      'https://docs.example/api/pets/round.yml': '$ref: there.yml',
      'https://docs.example/api/pets/there.yml': '$ref: round.yml',
    };
    const read = load(asked);
    const { tools, report } = await imported(
      documentWith({
        '/pets': { post: { $ref: 'pets/list.yml' }, put: { $ref: 'pets/round.yml' } },
        '/gone': { get: { $ref: 'pets/gone.yml' }, put: { $ref: '../secret.yml' } },
      }),
      {
        externalRefs: ['https://docs.example/api'],
        load: (url) => (operations[url.href] === undefined ? read(url) : Promise.resolve(operations[url.href] ?? '')),
      },
    );
    expect(tools).toMatchObject([
      {
        method: 'POST',
        definition: {
          name: 'listPets',
          input_schema: { properties: { limit: { type: 'integer' }, body: { $ref: expect.stringContaining('Pet') } } },
        },
      },
    ]);
    expect(report.skipped).toEqual([
      { operation: 'PUT /pets', reason: 'The entry refers to itself' },
      { operation: 'GET /gone', reason: 'The entry refers to https://docs.example/api/pets/gone.yml, which does not exist' },
      { operation: 'PUT /gone', reason: expect.stringMatching(/\.\.\/secret\.yml.*external_refs/) },
    ]);
    expect(report.warnings).toContainEqual({ operation: null, message: 'https://docs.example/api/pets/gone.yml could not be read: 404' });
  });

  test('so that a forbidden one is not fetched, and costs only its operation', async () => {
    const asked: string[] = [];
    for (const externalRefs of [[], ['https://other.example/'], ['https://docs.example/ap']]) {
      const { report } = await imported(document, { externalRefs, load: load(asked) });
      expect(report.skipped).toEqual([{ operation: 'POST /pets', reason: expect.stringMatching(/pet\.yaml#\/Pet.*external_refs/) }]);
      expect(report.tools).toBe(1);
    }
    expect(asked).toEqual([]);
  });

  test('and neither similar names nor local files are allowed by that', async () => {
    const asked: string[] = [];
    const outside = documentWith({
      '/a': { post: bodied({ $ref: '../api-keys.json' }) },
      '/b': { post: bodied({ $ref: 'file:///etc/passwd' }) },
    });
    const { report } = await imported(outside, { externalRefs: ['https://docs.example/api'], load: load(asked) });
    expect({ asked, skipped: report.skipped.length }).toEqual({ asked: [], skipped: 2 });
  });

  test('and are named in the order of the document, whichever comes first', async () => {
    const names = ['c', 'a', 'd', 'b'];
    const all = documentWith(Object.fromEntries(names.map((name) => [`/${name}`, { post: bodied({ $ref: `${name}.json` }) }])));
    const given = new Map(names.map((name) => [`https://docs.example/api/${name}.json`, Promise.withResolvers<string>()]));
    let asked = 0;
    const later = async ({ href }: URL) => {
      // Those that are wanted last come first.
      if (++asked === names.length) for (const each of [...given.values()].toReversed()) each.resolve('{"type": "string"}');
      return given.get(href)?.promise ?? '';
    };
    const { report } = await imported(all, { externalRefs: ['https://docs.example/api/'], load: later });
    expect(report.external_refs).toEqual([...given.keys()]);
  });

  test('and one that cannot be read is a warning', async () => {
    const missing = documentWith({ '/a': { post: bodied({ $ref: 'missing.yaml' }) } });
    const { report } = await imported(missing, { externalRefs: ['https://docs.example/api/'], load: load([]) });
    expect(report.warnings).toContainEqual({ operation: null, message: 'https://docs.example/api/missing.yaml could not be read: 404' });
  });
});

describe('[OAS-1] a hostile document', () => {
  test('is given up if it takes too long', async () => {
    const never = documentWith({ '/a': { post: bodied({ $ref: 'slow.yaml' }) } });
    const load = async () => new Promise<string>(() => undefined);
    await expect(imported(never, { externalRefs: ['https://docs.example/'], load, timeLimitMs: 300 })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('longer than 0.3 seconds'),
    });
  });

  test('is given up if it takes far more memory than its text, and nothing else ends with it', async () => {
    const text = `{"openapi":"3.0.3","info":{},"paths":{},"x":[${'{"34":0},'.repeat(300_000)}0]}`;
    await expect(imported(text, { memoryLimitMb: 64 })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('64 MB of memory'),
    });
  });

  test('is no longer loaded when its caller leaves', async () => {
    const leaving = new AbortController();
    const asked = Promise.withResolvers<AbortSignal>();
    const load = async (_: URL, signal: AbortSignal) => {
      asked.resolve(signal);
      await once(signal, 'abort');
      return '';
    };
    const slow = documentWith({ '/a': { post: bodied({ $ref: 'slow.yaml' }) } });
    const turn = { caller: 'test', signal: leaving.signal };
    const result = imported(slow, { externalRefs: ['https://docs.example/'], load, turn });
    const loading = await asked.promise;
    leaving.abort(new Error('gone'));
    await expect(result).rejects.toThrow('gone');
    expect(loading.aborted).toBe(true);
  });

  test('with a long chain of schemas costs only its operation', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 50_000 }, (_, i) => [`S${i}`, { allOf: [{ $ref: `#/components/schemas/S${i + 1}` }] }]),
    );
    const paths = { '/a': { post: bodied({ $ref: '#/components/schemas/S0' }) }, '/b': { get: {} } };
    const { report } = await imported(documentWith(paths, { components: { schemas } }));
    expect(report).toMatchObject({ tools: 1, skipped: [{ operation: 'POST /a', reason: expect.stringContaining('chain') }] });
  });

  test('may have names that every object inherits', async () => {
    const text = `{"openapi": "3.0.0", "__proto__": {"paths": {"/evil": {"get": {}}}}, "servers": [{"url": "https://api.example"}], "paths": {"__proto__": {"get": {}},
      "/a": {"__proto__": {"get": {}}, "get": {"parameters": [{"in": "query", "name": "__proto__", "schema": {"type": "string"}}]}}}}`;
    const { tools, report } = await imported(text);
    expect(tools.map(({ definition }) => Object.keys(definition.input_schema['properties'] as JsonObject))).toEqual([['proto']]);
    expect(report.skipped).toEqual([{ operation: 'GET __proto__', reason: 'The path must begin with a slash' }]);
    expect(Object.hasOwn(Object.prototype, 'get')).toBe(false);
  });
});
