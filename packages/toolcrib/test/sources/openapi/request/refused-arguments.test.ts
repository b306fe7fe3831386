import { describe, expect, test } from 'vitest';
import type { HttpParameter } from '../../../../src/model/http-operation.ts';
import type { Json } from '../../../../src/model/json.ts';
import { requestPlan } from '../../../../src/sources/openapi/request/request-plan.ts';
import { httpBody, httpOperation, httpParameter, partEncoding } from '../http-operation.ts';

const build = (parameters: HttpParameter[], args: Record<string, Json>, path = '/files/{id}') =>
  requestPlan(httpOperation({ path, parameters })).build(args);

describe('[HTTP-1] an argument is refused before anything is sent', () => {
  test.each([
    ['two dots', '..'],
    ['one dot', '.'],
    ['dots behind a slash', 'a/../b'],
    ['dots behind a backslash', 'a\\..\\b'],
    ['dots at the end', 'a/..'],
    ['dots and a semicolon, which some servers cut off', '..;x'],
    ['nothing', ''],
    ['null', null],
    ['an empty list', []],
    ['half a character', '\ud800'],
    ['a list in a list', [['a']]],
    ['an object in an object', { a: { b: 1 } }],
  ])('that puts %s into a path', (_what, id) => {
    expect(() => build([httpParameter('id', 'path')], { id })).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', field: 'arguments.id' }),
    );
  });

  test('that is missing in a path', () => {
    expect(() => build([httpParameter('id', 'path')], {})).toThrow('arguments.id cannot be empty: it is a part of the path');
  });

  test('whose dots meet in the path, or are already encoded', () => {
    const two = [httpParameter('a', 'path'), httpParameter('b', 'path')];
    expect(() => build(two, { a: '.', b: '.' }, '/x/{a}{b}/y')).toThrow('would lead to another path');
    expect(() => build([httpParameter('id', 'path', { allow_reserved: true })], { id: '%2e%2E' })).toThrow('would lead to another path');
    expect(() => build([httpParameter('id', 'path', { style: 'label' })], { id: '.' })).toThrow('would lead to another path');
    expect(build([httpParameter('id', 'path')], { id: '%2e%2e' }).target).toBe('/files/%252e%252e');
    expect(build([httpParameter('id', 'path')], { id: 'a..b/.c/...' }).target).toBe('/files/a..b%2F.c%2F...');
  });

  test('so that nothing in a path leads to another server', () => {
    expect(build([httpParameter('id', 'path')], { id: '//evil.example/' }).target).toBe('/files/%2F%2Fevil.example%2F');
    expect(build([httpParameter('id', 'path')], { id: 'https://evil.example' }, '/{id}').target).toBe('/https%3A%2F%2Fevil.example');
    expect(build([httpParameter('id', 'path')], { id: '@evil.example' }, '{id}').target).toBe('/%40evil.example');
  });

  test.each([
    ['a line break', 'a\r\nX-Evil: 1'],
    ['a line feed', 'a\nb'],
    ['a zero', 'a\0b'],
    ['letters outside Latin-1', '🎨'],
    ['half a character', '\udc00'],
  ])('that puts %s into a header', (_what, value) => {
    expect(() => build([httpParameter('X-A', 'header')], { 'X-A': value }, '/')).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR' }),
    );
    const json = httpParameter('X-A', 'header', { content_type: 'text/plain' });
    expect(() => build([json], { 'X-A': value }, '/')).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });

  test.each(['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Cookie', 'Proxy-Authorization', 'a b', 'X\r\nY'])(
    'for the header %j',
    (name) => {
      expect(() => build([httpParameter(name, 'header', { argument: 'a' })], { a: 'x' }, '/')).toThrow(
        expect.objectContaining({ code: 'VALIDATION_ERROR' }),
      );
      // A call without it is not affected.
      expect(build([httpParameter(name, 'header', { argument: 'a' })], {}, '/').headers).not.toHaveProperty(name.toLowerCase());
    },
  );

  test.each(['Accept', 'content-type', 'AUTHORIZATION'])('except for %s, which is ignored as OpenAPI says', (name) => {
    const { headers } = build([httpParameter(name, 'header', { argument: 'a' })], { a: 'x' }, '/');
    expect(headers).toEqual({ accept: 'application/json', 'user-agent': 'toolcrib' });
  });

  test.each(['a; b=1', 'a,b', 'a b', '"a"', 'ü', 'a\\b', 'a\r\n'])('that puts %j into a cookie that is sent as it is', (value) => {
    expect(() => build([httpParameter('c', 'cookie', { style: 'cookie' })], { c: value }, '/')).toThrow('is sent verbatim as a cookie');
    expect(build([httpParameter('c', 'cookie')], { c: value }, '/').headers['cookie']).toMatch(/^c=[\w%.-]+$/);
  });

  test.each<[style: HttpParameter['style'], Json]>([
    ['form', { a: { b: 1 } }],
    ['form', { a: [1] }],
    ['form', [[1]]],
    ['spaceDelimited', [{ a: 1 }]],
    ['pipeDelimited', [[1]]],
  ])('that has no form in the style %s', (style, value) => {
    expect(() => build([httpParameter('q', 'query', { style })], { q: value }, '/')).toThrow(
      'contains nested lists or objects, which its style cannot express',
    );
  });

  test('that is nested too deeply', () => {
    let value: Json = 1;
    for (let depth = 0; depth < 100; depth++) value = { a: value };
    expect(() => build([httpParameter('q', 'query', { style: 'deepObject' })], { q: value }, '/')).toThrow('more than 32 levels');
  });

  test('that is not base64 where bytes are expected', () => {
    const file = httpOperation({ method: 'POST', body: httpBody('binary', 'application/pdf') });
    for (const body of ['a', 'ab=c', 'a_b-', 'ab\ncd', 'YQ=', 7]) {
      expect(() => requestPlan(file).build({ body })).toThrow(
        expect.objectContaining({ code: 'VALIDATION_ERROR', field: 'arguments.body' }),
      );
    }
    const parts = httpOperation({
      method: 'POST',
      body: httpBody('multipart', 'multipart/form-data', { f: partEncoding({ binary: true }) }),
    });
    const files: Json[] = ['%', { data: '%' }, { data: 'YQ==', filename: 7 }, { data: 'YQ==', content_type: 'a\r\nb/c' }, { name: 'x' }];
    for (const f of files) {
      expect(() => requestPlan(parts).build({ body: { f } })).toThrow(/^arguments\.body\.f/);
    }
  });

  test('that is a missing body, or one that is no form', () => {
    const form = httpOperation({ method: 'POST', body: httpBody('form', 'application/x-www-form-urlencoded') });
    expect(() => requestPlan(form).build({})).toThrow('arguments.body is required');
    for (const body of ['a=1', [1], null])
      expect(() => requestPlan(form).build({ body })).toThrow('must be an object: it is sent as a form');
  });

  test('while a parameter with a name that every object inherits is absent unless given', () => {
    expect(build([httpParameter('constructor', 'query'), httpParameter('__proto__', 'query')], {}, '/').target).toBe('/');
    const args = JSON.parse('{"constructor": 1, "__proto__": 2}') as Record<string, Json>;
    expect(build([httpParameter('constructor', 'query'), httpParameter('__proto__', 'query')], args, '/').target).toBe(
      '/?constructor=1&__proto__=2',
    );
  });
});
