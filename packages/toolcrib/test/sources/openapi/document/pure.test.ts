import { describe, expect, test } from 'vitest';
import { modelName } from '../../../../src/inventory/model-name.ts';
import { argumentNames } from '../../../../src/sources/openapi/document/argument-names.ts';
import { definitionName } from '../../../../src/sources/openapi/document/definition-name.ts';
import { bodyKind, isMediaType } from '../../../../src/sources/openapi/document/media-types.ts';
import { legalPattern } from '../../../../src/sources/openapi/document/pattern.ts';
import { toolNames } from '../../../../src/sources/openapi/document/tool-names.ts';

describe('[OAS-1] the name of a tool', () => {
  test.each<[string, string | null, string, string, string]>([
    ['the id', 'getPet', 'GET', '/pets/{id}', 'getPet'],
    ['an id with slashes', 'repos/get', 'GET', '/repos', 'repos_get'],
    ['an id with what no name has', 'get files#link (new)', 'GET', '/', 'get_files_link_new'],
    ['none', null, 'GET', '/pets/{id}/owner', 'get_pets_id_owner'],
    ['none, at the root', null, 'DELETE', '/', 'delete'],
    ['an id of nothing that could stay', '###', 'POST', '/pets', 'post_pets'],
  ])('is made from the operation id, or from method and path: %s', (_, operationId, method, path, expected) => {
    const [name = ''] = toolNames([{ method, path, operationId }]);
    expect(name).toBe(expected);
  });

  test('ends in a hash if it is too long', () => {
    const [name] = toolNames([{ method: 'GET', path: '/a', operationId: 'x'.repeat(200) }]);
    expect(name).toMatch(/^x{119}_[0-9a-f]{8}$/);
  });

  test('is unique, whatever the case and order', () => {
    const operations = [
      { method: 'GET', path: '/a', operationId: 'list' },
      { method: 'GET', path: '/b', operationId: 'List' },
      { method: 'GET', path: '/c', operationId: 'other' },
    ];
    const names = toolNames(operations);
    expect(names[2]).toBe('other');
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(3);
    expect(toolNames(operations.toReversed()).toReversed()).toEqual(names);
    expect(new Set(names.map((name) => modelName('things', name).toLowerCase())).size).toBe(3);
  });
});

describe('[OAS-2] the name of an argument', () => {
  type Named = Parameters<typeof argumentNames>[0];
  test.each<[string, Named, string[], string[]]>([
    [
      'as they are',
      [
        { name: 'a', in: 'query' },
        { name: 'X-B', in: 'header' },
      ],
      [],
      ['a', 'X-B'],
    ],
    [
      'the same in two places',
      [
        { name: 'id', in: 'path' },
        { name: 'id', in: 'query' },
      ],
      [],
      ['id_path', 'id_query'],
    ],
    ['the name of the body', [{ name: 'body', in: 'query' }], ['body'], ['body_query']],
    ['the name of the body where there is none', [{ name: 'body', in: 'query' }], [], ['body']],
    [
      'brackets and signs',
      [
        { name: 'filter[status]', in: 'query' },
        { name: '$top', in: 'query' },
      ],
      [],
      ['filter_status', 'top'],
    ],
    ['nothing that could stay', [{ name: '名前', in: 'query' }], [], ['argument']],
    ['a name that every object inherits', [{ name: '__proto__', in: 'query' }], [], ['proto']],
  ])('suits every model and is unique: %s', (_, parameters, taken, expected) => {
    expect(argumentNames(parameters, taken)).toEqual(expected);
  });

  test('has a hash of the original if two are the same in one place, or if it is long', () => {
    const long = 'n'.repeat(100);
    const names = argumentNames(
      [
        { name: 'a', in: 'query' },
        { name: 'a[]', in: 'query' },
        { name: long, in: 'query' },
        { name: `${long}m`, in: 'query' },
      ],
      [],
    );
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
  });
});

describe('[OAS-2] a media type', () => {
  test.each([
    ['application/json; charset=utf-8', 'json'],
    ['text/json', 'json'],
    ['application/problem+json', 'json'],
    ['application/x-www-form-urlencoded', 'form'],
    ['multipart/mixed', 'multipart'],
    ['text/csv', 'text'],
    ['application/soap+xml', 'text'],
    ['application/x-ndjson', 'text'],
    ['application/octet-stream', 'binary'],
    ['image/svg', 'binary'],
  ])('%s is sent as %s', (type, kind) => {
    expect(bodyKind(type)).toBe(kind);
  });

  test.each([
    ['text/plain; charset="utf-8"', true],
    ['*/*', true],
    ['text', false],
    ['text/plain; x="a\nb"', false],
    [`text/${'x'.repeat(300)}`, false],
  ])('%j is valid: %s', (type, expected) => {
    expect(isMediaType(type)).toBe(expected);
  });
});

describe('[OAS-3] a pattern', () => {
  test.each<[string, string | undefined]>([
    ['^[a-z]+$', '^[a-z]+$'],
    ['^\\d{3}\\-\\d{2}$', '^\\d{3}-\\d{2}$'],
    ['[\\w\\-\\_\\@]', '[\\w\\-_@]'],
    ['\\/a', '\\/a'],
    ['^\\A[a-z]\\Z', undefined],
    ['(?P<name>x)', undefined],
    ['[unclosed', undefined],
    ['/^[a-z]+$/i', undefined],
  ])('is kept as an ECMAScript expression in Unicode mode, or left out: %s', (pattern, expected) => {
    expect(legalPattern(pattern)).toBe(expected);
  });
});

test('[OAS-3] definitions keep their names if they come from the schemas section, and get a hash otherwise', () => {
  expect(definitionName('#/components/schemas/Pet')).toBe('Pet');
  expect(definitionName('#/definitions/Pet')).toBe('Pet');
  expect(definitionName('#/components/schemas/Pet/properties/owner')).toMatch(/^owner_[0-9a-f]{8}$/);
  expect(definitionName('#/components/schemas/A~1B')).toMatch(/^A_1B_[0-9a-f]{8}$/);
  expect(definitionName('#/components/schemas/__proto__')).toMatch(/^__proto___[0-9a-f]{8}$/);
});
