import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changedInteger, parseExactJson } from '../../../src/model/exact-json.ts';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import { withExactIntegers } from '../../../src/sources/openapi/request/exact-integers.ts';
import { startHttpServer, type RunningServer } from '../../fixtures/http-server.ts';
import { startOpenServer, type OpenServer } from '../../fixtures/open-server.ts';
import { argumentOf, compiled, documentOf, onlyTool } from './document/compiled.ts';

/** One more than 2^53, which a number makes one less. */
const large = '9007199254740993';

describe('parsing JSON', () => {
  test.each<[text: string, value: Json]>([
    [`{"id":${large}}`, { id: large }],
    [`[-${large}, 12345678901234567890]`, [`-${large}`, '12345678901234567890']],
    [large, large],
    ['{"id":9007199254740991}', { id: 9_007_199_254_740_991 }],
    ['{"id":100000000000000000000}', { id: 1e20 }],
    ['{"id":1e400,"x":0.12345678901234567890}', { id: Infinity, x: 0.123_456_789_012_345_68 }],
    [`{"text":"id: ${large}"}`, { text: `id: ${large}` }],
  ])('[EXEC-2] keeps large integers as text: %s', (text, value) => {
    let told = 0;
    expect(parseExactJson(text, () => told++)).toEqual(value);
    expect(told > 0).toBe(changedInteger(text) !== undefined);
  });

  test.each<[text: string, path: string[] | undefined]>([
    [`{"a":{"b":[1,${large}]},"c":1}`, ['a', 'b', '1']],
    [`{"a":"${large}","c":${large}}`, ['c']],
    [large, []],
    [`{"a":1.${large}, "b": "x, ${large}"}`, undefined],
  ])('[EXEC-3] finds the first changed integer: %s', (text, path) => {
    expect(changedInteger(text)).toEqual(path === undefined ? undefined : { path, digits: large });
  });
});

describe('[OAS-3] integers of 64 bits', () => {
  const argument = (schema: JsonObject) => {
    const parameters = [{ name: 'id', in: 'query', schema }];
    return argumentOf(onlyTool(compiled(documentOf({ parameters }))), 'id');
  };

  test('may be given as text if a number cannot hold them', () => {
    const int64 = { type: 'integer', format: 'int64' };
    expect(argument(int64)).toEqual({ type: ['integer', 'string'], format: 'int64', pattern: '^-?[1-9][0-9]{15,18}$' });
    expect(argument({ ...int64, nullable: true })).toMatchObject({ type: ['integer', 'string', 'null'] });
    expect(argument({ ...int64, format: 'uint64' })).toMatchObject({ pattern: '^[1-9][0-9]{15,19}$' });
  });

  test.each<[JsonObject]>([
    [{ type: 'integer', format: 'int32' }],
    [{ type: 'integer' }],
    [{ type: 'integer', format: 'int64', maximum: 100 }],
    [{ type: 'integer', format: 'int64', enum: [1, 2] }],
    [{ type: 'string', format: 'int64' }],
  ])('are numbers only otherwise: %j', (schema) => {
    expect(argument(schema)).toEqual(schema);
  });
});

describe('[HTTP-1] a large integer given as text', () => {
  const id = { type: ['integer', 'string'], format: 'int64', pattern: '^-?[1-9][0-9]{15,18}$' };
  const root = {
    $defs: { Thing: { type: 'object', properties: { id, name: { type: 'string' }, inner: { $ref: '#/$defs/Thing' } } } },
  };
  const thing = { $ref: '#/$defs/Thing' };

  test.each<[schema: Json, value: Json, written: string]>([
    [thing, { id: large, name: large, inner: { id: large } }, `{"id":${large},"name":"${large}","inner":{"id":${large}}}`],
    [{ type: 'array', items: { oneOf: [thing, id] } }, [large, { id: large }], `[${large},{"id":${large}}]`],
    [{ additionalProperties: id }, { a: `-${large}`, b: 1 }, `{"a":-${large},"b":1}`],
    [{ anyOf: [id, { type: 'string' }] }, large, `"${large}"`],
    [{}, { id: large }, `{"id":"${large}"}`],
  ])('is written as a number where the schema says so: %j', (schema, value, written) => {
    expect(JSON.stringify(withExactIntegers(value, schema, root))).toBe(written);
  });
});

describe('[EXEC-3] [HTTP-1] [HTTP-2] a call with integers beyond 2^53', () => {
  let service: RunningServer;
  let server: OpenServer;
  const asked: string[] = [];

  beforeAll(async () => {
    service = await startHttpServer((request, response) => {
      void text(request).then((body) => {
        asked.push(`${request.url} ${body}`);
        response.writeHead(200, { 'content-type': 'application/json' }).end(`{"id":${large},"small":1}`);
      });
    });
    const id = { type: 'integer', format: 'int64' };
    const schema = { type: 'object', properties: { id, count: { type: 'integer' } } };
    const operation = {
      parameters: [{ name: 'id', in: 'path', required: true, schema: id }],
      requestBody: { content: { 'application/json': { schema } } },
      responses: { 200: { description: 'Done', content: { 'application/json': { schema } } } },
    };
    const document = documentOf(operation, { servers: [{ url: service.origin }] }, ['put', '/things/{id}']);
    server = await startOpenServer();
    const openapi = { text: JSON.stringify(document) };
    await server.admin.post('/api/sources?wait=30000', { name: 'Api', source_type: 'openapi', openapi });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  /** Written by hand: nothing on the way may have changed it. */
  const send = (args: string) => server.alice.post('/api/bff/tools/call', `{"name":"api:one","arguments":${args}}`);

  test('arrives exactly if it is text, and its answer comes back exactly', async () => {
    const { json } = await send(`{"id":"${large}","body":{"id":"${large}","count":2}}`);
    expect(asked.splice(0)).toEqual([`/things/${large} {"id":${large},"count":2}`]);
    expect(json).toMatchObject({
      success: true,
      text: `{"id":${large},"small":1}`,
      structured_content: { id: large, small: 1 },
      result: { id: large, small: 1 },
      metadata: { integers_as_text: 1 },
    });
    expect(json['metadata']).not.toHaveProperty('output_schema_violation');
  });

  test('is refused if it is a number, with what to do, and nothing is sent', async () => {
    expect(await send(`{"id":"1234567890123456","body":{"id":${large}}}`)).toMatchObject({
      status: 400,
      json: {
        code: 'VALIDATION_ERROR',
        message: `arguments.body.id is ${large}, which is more than a number holds exactly (2^53): send it as text, in quotes`,
        field: 'arguments.body.id',
      },
    });
    expect(await send(`{"id":1,"body":{"count":"${large}"}}`)).toMatchObject({ status: 400, json: { field: 'arguments.body.count' } });
    expect(asked).toEqual([]);
  });
});
