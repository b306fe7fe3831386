import { describe, expect, test } from 'vitest';
import type { HttpParameter } from '../../../../src/model/http-operation.ts';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import { argumentOf, compiled, documentOf, onlyTool, operationOf, swagger2 } from './compiled.ts';

const string = { type: 'string' };

describe('[OAS-2] the parameters of an operation', () => {
  const parametersOf = (parameters: Json[], more: JsonObject = {}, path = '/things') => {
    const made = compiled(documentOf({ parameters }, more, ['get', path]));
    return { ...operationOf(onlyTool(made)), tool: onlyTool(made), warnings: made.report.warnings };
  };

  test.each<[string, JsonObject, Partial<HttpParameter>, string?]>([
    ['query', { in: 'query' }, { style: 'form', explode: true }],
    ['cookie', { in: 'cookie' }, { style: 'form', explode: true }],
    ['header', { in: 'header' }, { style: 'simple', explode: false }],
    ['path', { in: 'path' }, { style: 'simple', explode: false, required: true }],
    ['matrix', { in: 'path', style: 'matrix', explode: true }, { style: 'matrix', explode: true }],
    ['label', { in: 'path', style: 'label' }, { style: 'label', explode: false }],
    ['spaceDelimited', { in: 'query', style: 'spaceDelimited' }, { style: 'spaceDelimited', explode: false }],
    ['pipeDelimited', { in: 'query', style: 'pipeDelimited' }, { style: 'pipeDelimited', explode: false }],
    ['deepObject', { in: 'query', style: 'deepObject', explode: true }, { style: 'deepObject', explode: true }],
    ['form without explode', { in: 'query', explode: false }, { style: 'form', explode: false }],
    ['reserved', { in: 'query', allowReserved: true }, { allow_reserved: true }],
    ['JSON', { in: 'query', content: { 'application/json': { schema: string } } }, { content_type: 'application/json' }],
    ['a cookie of 3.2', { in: 'cookie', style: 'cookie' }, { style: 'cookie', explode: true }, '3.2.0'],
    ['the whole query', { in: 'querystring', content: { 'application/json': {} } }, { in: 'querystring' }, '3.2.0'],
  ])('[OAS-2] have the right place and style: %s', (_, parameter, expected, openapi = '3.0.3') => {
    const { parameters } = parametersOf(
      [{ name: 'id', schema: string, ...parameter }],
      { openapi },
      '/things/{id}'.slice(0, parameter['in'] === 'path' ? 12 : 7),
    );
    expect(parameters).toEqual([expect.objectContaining({ name: 'id', argument: 'id', ...expected })]);
  });

  test.each<[string, JsonObject, Partial<HttpParameter>]>([
    ['nothing said', { in: 'query' }, { style: 'form', explode: false }],
    ['csv', { in: 'header', collectionFormat: 'csv' }, { style: 'simple', explode: false }],
    ['multi', { in: 'query', collectionFormat: 'multi' }, { style: 'form', explode: true }],
    ['ssv', { in: 'query', collectionFormat: 'ssv' }, { style: 'spaceDelimited', explode: false }],
    ['tsv', { in: 'query', collectionFormat: 'tsv' }, { style: 'tabDelimited', explode: false }],
    ['pipes', { in: 'query', collectionFormat: 'pipes' }, { style: 'pipeDelimited', explode: false }],
  ])('[OAS-2] of 2.0 can be a list with %s', (_, parameter, expected) => {
    const { parameters, tool } = parametersOf([{ name: 'a', type: 'array', items: string, ...parameter }], swagger2);
    expect(parameters).toEqual([expect.objectContaining(expected)]);
    expect(argumentOf(tool, 'a')).toEqual({ type: 'array', items: string });
  });

  test('override those of the path item, and collisions are visible', () => {
    const shared = { P: { in: 'query', name: 'page', schema: { type: 'integer' } } };
    const pathItem: JsonObject = {
      parameters: [{ $ref: '#/components/parameters/P' }, { in: 'path', name: 'id', required: true, schema: string }],
      get: {
        parameters: [
          { in: 'query', name: 'page', description: 'Which', schema: string },
          { in: 'query', name: 'id', schema: string },
        ],
      },
    };
    const tool = onlyTool(compiled(documentOf({}, { paths: { '/a/{id}': pathItem }, components: { parameters: shared } })));
    expect(tool.definition.input_schema).toEqual({
      type: 'object',
      properties: {
        page: { type: 'string', description: 'Which' },
        id_path: { type: 'string', description: 'Sent as the part "id" of the path.' },
        id_query: { type: 'string', description: 'Sent as the query "id".' },
      },
      required: ['id_path'],
      additionalProperties: false,
    });
  });

  test('leave out headers that OpenAPI, the connection or the credential sets', () => {
    const names = ['Accept', 'content-type', 'Authorization', 'Host', 'Content-Length', 'Cookie', 'X-Key', 'X-Trace'];
    const security = { security: [{ key: [] }], components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-key' } } } };
    const { parameters } = parametersOf(
      names.map((name) => ({ in: 'header', name, schema: string })),
      security,
    );
    expect(parameters.map(({ name }) => name)).toEqual(['X-Trace']);
  });

  test('have one value if the path fixes it', () => {
    const { parameters, path, tool } = parametersOf([], {}, '/jobs?op=LIST&all');
    expect({ path, parameters }).toMatchObject({
      path: '/jobs',
      parameters: [{ name: 'op', in: 'query', required: true, style: 'form' }, { name: 'all' }],
    });
    expect(argumentOf(tool, 'op')).toEqual({ type: 'string', const: 'LIST' });
  });

  test('in the path are those that the path contains', () => {
    const { parameters, warnings } = parametersOf([{ in: 'path', name: 'other', schema: string }], {}, '/a/{id}#fragment');
    expect(parameters).toEqual([expect.objectContaining({ name: 'id', in: 'path', required: true })]);
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('other is not in the path'),
      expect.stringContaining('id of the path'),
    ]);
  });
});
