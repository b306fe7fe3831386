import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../src/model/json.ts';
import { openDocument } from '../../../../src/sources/openapi/document/open-document.ts';

describe('[OAS-1] a document', () => {
  test.each<[string, Json, RegExp]>([
    ['nothing', null, /It is empty/],
    ['an empty object', {}, /It is empty/],
    ['a list', [], /It is a list/],
    ['text', 'hello', /only text/],
    ['an Arazzo document', { arazzo: '1.0.0' }, /type workflow/],
    ['an AsyncAPI document', { asyncapi: '3.0.0' }, /AsyncAPI/],
    ['Swagger 1', { swaggerVersion: '1.2' }, /Swagger 1/],
    ['a configuration of MCP servers', { mcpServers: {} }, /toolcrib import/],
    ['a Postman collection', { info: { _postman_id: 'x' } }, /Postman/],
    ['a JSON Schema', { $schema: 'https://json-schema.org/draft/2020-12/schema' }, /JSON Schema/],
    ['a later version', { openapi: '4.0.0' }, /OpenAPI 4\.0\.0; 2\.0, 3\.0, 3\.1 and 3\.2/],
    ['a version that only begins like one', { openapi: '3.10.0' }, /OpenAPI 3\.10\.0/],
    ['something else', { name: 'x', version: '1' }, /but name, version/],
  ])('that is not OpenAPI is refused with what it looks like: %s', (_, value, reason) => {
    expect(() => openDocument(value)).toThrow(reason);
  });

  test.each<[Json, string]>([
    ['3.0.3', '3.0'],
    ['3.1.1', '3.1'],
    ['3.2.0', '3.2'],
    [3.1, '3.1'],
  ])('[OAS-1] of %s is read as %s', (openapi, format) => {
    expect(openDocument({ openapi }).format).toBe(format);
  });

  test('[OAS-1] of 2.0 may have a number as its version', () => {
    expect(openDocument({ swagger: 2 })).toMatchObject({ format: '2.0', version: '2.0' });
  });
});

describe('[OAS-3] a reference', () => {
  const document = openDocument({
    openapi: '3.0.0',
    a: { 'b/c~d': { 'e f': [1, { g: 2 }] } },
    chain: { $ref: '#/chain2' },
    chain2: { $ref: '#/a' },
    circle: { $ref: '#/circle' },
  });

  test.each<[string, Json | undefined]>([
    ['#/a/b~1c~0d/e%20f/1/g', 2],
    ['#/openapi', '3.0.0'],
    ['#/a/missing', undefined],
    ['#/a/toString', undefined],
    ['#/constructor/prototype', undefined],
    ['#/__proto__', undefined],
    ['#/a/%E0%A4%A', undefined],
    ['#anchor', undefined],
  ])('leads only to a part of the document: %s', (reference, expected) => {
    expect(document.find(reference)).toEqual(expected);
  });

  test('[OAS-3] may be one of a chain, and not of a circle', () => {
    expect(document.follow({ $ref: '#/chain' }, 'It')).toHaveProperty(['b/c~d']);
    expect(() => document.follow({ $ref: '#/circle' }, 'It')).toThrow('It refers to itself');
    expect(() => document.follow({ $ref: '#/nowhere' }, 'It')).toThrow('It refers to #/nowhere, which does not exist');
    expect(() => document.find('other.json#/a')).toThrow(/external_refs/);
  });
});
