import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import { requestPlan } from '../../../../src/sources/openapi/request/request-plan.ts';
import { argumentOf, compiled, documentOf, onlyTool, operationOf, swagger2 } from './compiled.ts';

const object = { type: 'object' };
const string = { type: 'string' };

function toolWith(content: Record<string, Json>, method = 'post', operation: JsonObject = {}) {
  const entries = Object.entries(content).map(([type, schema]): [string, Json] => [type, { schema }]);
  const document = documentOf({ requestBody: { content: Object.fromEntries(entries) }, ...operation }, {}, [method, '/things']);
  const tool = onlyTool(compiled(document));
  const { build } = requestPlan(operationOf(tool));
  /** The sent type without its boundary, and the text. */
  const sent = (args: JsonObject) => {
    const { headers, body } = build(args);
    return [headers['content-type']?.split('; boundary')[0], String(body)];
  };
  return { tool, body: operationOf(tool).body, sent };
}

const ofTypes = (types: readonly string[], schema: Json = {}) => toolWith(Object.fromEntries(types.map((type) => [type, schema])));

describe('[OAS-2] the media type of a body', () => {
  test.each<[string[], string | undefined]>([
    [['application/xml', 'application/json', 'multipart/form-data'], 'application/json'],
    [['application/vnd.api+json', 'application/json'], 'application/json'],
    [['application/xml', 'application/merge-patch+json'], 'application/merge-patch+json'],
    [['multipart/form-data', 'application/x-www-form-urlencoded'], 'application/x-www-form-urlencoded'],
    [['application/octet-stream', 'text/plain'], 'text/plain'],
    [['image/png', 'application/zip'], 'image/png'],
    [['not a type', 'application/zip'], 'application/zip'],
  ])('is the most useful of %j', (types, expected) => {
    expect(ofTypes(types).body).toMatchObject({ content_type: expected });
  });

  test('must be one that can be sent', () => {
    const { report } = compiled(documentOf({ requestBody: { content: { 'text/plain\r\nX: 1': {} } } }));
    expect(report.skipped).toEqual([{ operation: 'POST /things', reason: 'The body has no media type that can be sent' }]);
  });

  test('is another one if the first is invalid', () => {
    const content = { 'application/json': { $ref: '#/components/nowhere' }, 'text/plain': { schema: string } };
    expect(operationOf(onlyTool(compiled(documentOf({ requestBody: { content } })))).body).toMatchObject({ content_type: 'text/plain' });
  });

  test('is multipart rather than JSON for a schema with files', () => {
    const schema = { type: 'object', properties: { picture: { type: 'string', format: 'binary' } } };
    expect(ofTypes(['application/json', 'multipart/form-data'], schema).body).toMatchObject({ kind: 'multipart' });
  });
});

describe('[OAS-2] media types that write the same values in other ways', () => {
  test.each<[string[]]>([
    [['application/json', 'application/xml', 'application/x-www-form-urlencoded']],
    [['application/json', 'text/json', 'application/*+json']],
    [['application/json; charset=utf-8', 'application/json']],
    // As old generators write it for everything.
    [['application/json-patch+json', 'application/json', 'text/json']],
    [['application/json', 'application/cbor', 'application/vnd.thing+xml']],
  ])('give no choice: %j', (types) => {
    const { tool, body } = ofTypes(types, object);
    expect(body?.choice).toBeUndefined();
    expect(body?.kind).toBe('json');
    expect(Object.keys(tool.definition.input_schema['properties'] as object)).toEqual(['body']);
  });
});

describe('[OAS-2] patches like those of Kubernetes', () => {
  const types = ['apply-patch+cbor', 'apply-patch+yaml', 'json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json'];
  const schemas = Object.fromEntries(types.map((type) => [`application/${type}`, object]));
  const { tool, sent } = toolWith(schemas, 'patch');
  const patch = [{ op: 'remove', path: '/spec' }];

  test('accept a list or an object, and a type', () => {
    expect(argumentOf(tool, 'body')).toMatchObject({ anyOf: [object, { type: 'array', items: { required: ['op', 'path'] } }] });
    expect(argumentOf(tool, 'content_type')).toEqual({
      type: 'string',
      enum: ['merge-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml', 'json-patch+json'].map((type) => `application/${type}`),
      description: 'The media type of body; unless given, the first of them that fits it',
    });
    expect(tool.definition.input_schema['required']).toBeUndefined();
  });

  test.each<[JsonObject, string, string]>([
    [{ body: { spec: null } }, 'application/merge-patch+json', '{"spec":null}'],
    [{ body: patch }, 'application/json-patch+json', JSON.stringify(patch)],
    [{ body: {}, content_type: 'application/strategic-merge-patch+json' }, 'application/strategic-merge-patch+json', '{}'],
    [{ body: { kind: 'Pod' }, content_type: 'application/apply-patch+yaml' }, 'application/apply-patch+yaml', '{"kind":"Pod"}'],
  ])('are told apart by the body or the argument: %j', (args, type, text) => {
    expect(sent(args)).toEqual([type, text]);
  });

  test('are refused if the body does not fit the type, with what to do', () => {
    expect(() => sent({ body: {}, content_type: 'application/json-patch+json' })).toThrow(
      'arguments.body is an object, but application/json-patch+json takes a list: change the value, or content_type',
    );
    expect(() => sent({ body: {}, content_type: 'text/plain' })).toThrow(
      /^arguments\.content_type must be one of application\/merge-patch/,
    );
  });

  test('are told apart in a document of 2.0 too', () => {
    const operation = { consumes: Object.keys(schemas), parameters: [{ in: 'body', name: 'body', schema: object }] };
    const old = onlyTool(compiled(documentOf(operation, swagger2, ['patch', '/things'])));
    expect(operationOf(old).body).toEqual(operationOf(tool).body);
  });
});

describe('[OAS-2] media types with different schemas', () => {
  const address = { type: 'object', properties: { url: string }, required: ['url'] };
  const upload = { type: 'object', properties: { file: { type: 'string', format: 'binary' }, name: string }, required: ['file'] };
  const { tool, sent } = toolWith({ 'application/json': address, 'multipart/form-data': upload, 'text/csv': string });

  test.each<[JsonObject, string, string]>([
    [{ body: { url: 'https://a.example' } }, 'application/json', '{"url":"https://a.example"}'],
    [{ body: { file: 'aGk=', name: 'a' } }, 'multipart/form-data', 'hi'],
    [{ body: 'a,b' }, 'text/csv', 'a,b'],
    [{ body: {}, content_type: 'application/json' }, 'application/json', '{}'],
  ])('are told apart by their fields: %j', (args, type, text) => {
    const [contentType, body] = sent(args);
    expect(contentType).toBe(type);
    expect(body).toContain(text);
  });

  test('allow a body of any of them', () => {
    expect(argumentOf(tool, 'body')).toMatchObject({ anyOf: [{ required: ['file'] }, { required: ['url'] }, { type: 'string' }] });
  });
});

test('[OAS-2] the argument that chooses a media type has a name that no parameter has', () => {
  const named = (...names: string[]) => names.map((name) => ({ name, in: 'query', schema: string }));
  const content = { 'image/png': {}, 'image/jpeg': {} };
  const choosing = (parameters: Json[]) => toolWith(content, 'post', { parameters }).body?.choice?.argument;
  expect(choosing([])).toBe('content_type');
  expect(choosing(named('content_type'))).toBe('body_content_type');
  expect(choosing(named('content_type', 'body_content_type'))).toMatch(/^content_type_\w+$/);
});

describe('[OAS-2] a text body whose schema has fields', () => {
  const thing = { type: 'object', properties: { name: string } };

  test.each(['text/plain', 'text/plain; charset=utf-8', 'application/yaml'])('keeps them in %s', (type) => {
    const { tool, sent } = toolWith({ [type]: thing });
    expect(argumentOf(tool, 'body')).toEqual(thing);
    expect(sent({ body: { name: 'a' } })).toEqual([type, '{"name":"a"}']);
  });

  test('keeps numbers too, and stays text without them', () => {
    const count = toolWith({ 'text/plain': { type: 'integer' } });
    expect(argumentOf(count.tool, 'body')).toEqual({ type: 'integer' });
    expect(count.sent({ body: 12 })).toEqual(['text/plain', '12']);
    expect(argumentOf(toolWith({ 'text/plain': {} }).tool, 'body')).toEqual({ type: 'string', contentMediaType: 'text/plain' });
    expect(argumentOf(toolWith({ 'text/csv': object }).tool, 'body')).toEqual({ type: 'string', contentMediaType: 'text/csv' });
  });
});
