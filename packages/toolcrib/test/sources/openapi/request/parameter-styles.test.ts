import { describe, expect, test } from 'vitest';
import type { HttpParameter, ParameterStyle } from '../../../../src/model/http-operation.ts';
import type { Json } from '../../../../src/model/json.ts';
import { requestPlan } from '../../../../src/sources/openapi/request/request-plan.ts';
import { httpOperation, httpParameter } from '../http-operation.ts';

const array = ['blue', 'black', 'brown'];
const object = { R: 100, G: 200, B: 150 };

function sent(parameter: HttpParameter, value: Json) {
  const path = parameter.in === 'path' ? `/x{${parameter.name}}` : '/x';
  return requestPlan(httpOperation({ path, parameters: [parameter] })).build({ [parameter.argument]: value });
}

const inPath = (value: Json, given: Partial<HttpParameter> = {}) => sent(httpParameter('color', 'path', given), value).target.slice(2);
const inQuery = (value: Json, given: Partial<HttpParameter> = {}) => sent(httpParameter('color', 'query', given), value).target.slice(2);
const inHeader = (value: Json, given: Partial<HttpParameter> = {}) => sent(httpParameter('color', 'header', given), value).headers['color'];
const inCookie = (value: Json, given: Partial<HttpParameter> = {}) =>
  sent(httpParameter('color', 'cookie', given), value).headers['cookie'];

describe('the style examples of the OpenAPI specification', () => {
  const path: [ParameterStyle, boolean, empty: string | null, string, string, string][] = [
    ['matrix', false, ';color', ';color=blue', ';color=blue,black,brown', ';color=R,100,G,200,B,150'],
    ['matrix', true, ';color', ';color=blue', ';color=blue;color=black;color=brown', ';R=100;G=200;B=150'],
    ['label', false, '.', '.blue', '.blue,black,brown', '.R,100,G,200,B,150'],
    ['label', true, '.', '.blue', '.blue.black.brown', '.R=100.G=200.B=150'],
    ['simple', false, null, 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
    ['simple', true, null, 'blue', 'blue,black,brown', 'R=100,G=200,B=150'],
  ];
  test.each(path)('[OAS-2] hold for the path, %s, explode %s', (style, explode, empty, ofString, ofArray, ofObject) => {
    expect(empty === null ? null : inPath('', { style, explode })).toBe(empty);
    expect(inPath('blue', { style, explode })).toBe(ofString);
    expect(inPath(array, { style, explode })).toBe(ofArray);
    expect(inPath(object, { style, explode })).toBe(ofObject);
  });

  const query: [ParameterStyle, boolean, empty: string, string, string, string][] = [
    ['form', false, '?color=', '?color=blue', '?color=blue,black,brown', '?color=R,100,G,200,B,150'],
    ['form', true, '?color=', '?color=blue', '?color=blue&color=black&color=brown', '?R=100&G=200&B=150'],
    ['spaceDelimited', false, '?color=', '?color=blue', '?color=blue%20black%20brown', '?color=R%20100%20G%20200%20B%20150'],
    ['pipeDelimited', false, '?color=', '?color=blue', '?color=blue%7Cblack%7Cbrown', '?color=R%7C100%7CG%7C200%7CB%7C150'],
    ['tabDelimited', false, '?color=', '?color=blue', '?color=blue%09black%09brown', '?color=R%09100%09G%09200%09B%09150'],
    // Not defined by the specification; whoever writes it means repetition.
    ['spaceDelimited', true, '?color=', '?color=blue', '?color=blue&color=black&color=brown', '?R=100&G=200&B=150'],
    ['pipeDelimited', true, '?color=', '?color=blue', '?color=blue&color=black&color=brown', '?R=100&G=200&B=150'],
    ['tabDelimited', true, '?color=', '?color=blue', '?color=blue&color=black&color=brown', '?R=100&G=200&B=150'],
    [
      'deepObject',
      true,
      '?color=',
      '?color=blue',
      '?color%5B%5D=blue&color%5B%5D=black&color%5B%5D=brown',
      '?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150',
    ],
  ];
  test.each(query)('[OAS-2] hold for the query, %s, explode %s', (style, explode, empty, ofString, ofArray, ofObject) => {
    expect(inQuery('', { style, explode })).toBe(empty);
    expect(inQuery('blue', { style, explode })).toBe(ofString);
    expect(inQuery(array, { style, explode })).toBe(ofArray);
    expect(inQuery(object, { style, explode })).toBe(ofObject);
  });

  test('[OAS-2] hold for headers, which are simple and not percent-encoded', () => {
    expect(inHeader('blue')).toBe('blue');
    expect(inHeader('')).toBe('');
    expect(inHeader(array)).toBe('blue,black,brown');
    expect(inHeader(object)).toBe('R,100,G,200,B,150');
    expect(inHeader(object, { explode: true })).toBe('R=100,G=200,B=150');
    expect(inHeader('a b; c=é')).toBe('a b; c=é');
    expect(inHeader(true)).toBe('true');
  });

  test('[OAS-2] hold for cookies, percent-encoded in the style form and as they are in the style cookie', () => {
    expect(inCookie('a b')).toBe('color=a%20b');
    expect(inCookie(array, { explode: false })).toBe('color=blue,black,brown');
    expect(inCookie(object, { explode: false })).toBe('color=R,100,G,200,B,150');
    expect(inCookie('')).toBe('color=');
    const style = 'cookie';
    expect(inCookie('', { style })).toBe('color=');
    expect(inCookie('a%20b', { style })).toBe('color=a%20b');
    expect(inCookie(array, { style })).toBe('color=blue; color=black; color=brown');
    expect(inCookie(object, { style })).toBe('R=100; G=200; B=150');
    expect(inCookie(array, { style, explode: false })).toBe('color=blue,black,brown');
  });
});

describe('beyond these examples', () => {
  test.each<[what: string, Json, string]>([
    ['a list with nulls in it', ['a', null, 'b'], '?color=a&color=b'],
    ['an object with nulls in it', { a: 1, b: null }, '?a=1'],
    ['an empty list', [], ''],
    ['an empty object', {}, ''],
    ['null', null, ''],
    ['a truth', true, '?color=true'],
    ['zero', 0, '?color=0'],
    ['a number without many digits', 1e21, '?color=1e%2B21'],
    ['reserved letters', "a&b=c#d/e?f[g]h!i'(j)*", '?color=a%26b%3Dc%23d%2Fe%3Ff%5Bg%5Dh%21i%27%28j%29%2A'],
    ['letters beyond ASCII', 'grün 🎨', '?color=gr%C3%BCn%20%F0%9F%8E%A8'],
    ['a value that is already encoded', '100%25', '?color=100%2525'],
    ['commas in a list', ['a,b', 'c'], '?color=a%2Cb&color=c'],
  ])('[OAS-2] %s is written into a query', (_what, value, expected) => {
    expect(inQuery(value)).toBe(expected);
  });

  test('[OAS-2] deepObject goes as deep as the field does', () => {
    const value: Json = { a: { b: { c: 1 } }, list: [1, 2], items: [{ id: 'x', tags: ['t'] }, { id: 'y' }], 'k[]': 'v', gone: null };
    expect(decodeURIComponent(inQuery(value, { style: 'deepObject' }))).toBe(
      '?color[a][b][c]=1&color[list][]=1&color[list][]=2&color[items][0][id]=x&color[items][0][tags][]=t&color[items][1][id]=y&color[k[]]=v',
    );
    expect(inQuery({ a: { b: '&' } }, { style: 'deepObject' })).toBe('?color%5Ba%5D%5Bb%5D=%26');
  });

  test('[OAS-2] reserved characters stay where they are allowed, but nothing starts another parameter, segment or fragment', () => {
    const given = { allow_reserved: true };
    expect(inQuery('a/b?c:d@e;f=g%2Fh%zz', given)).toBe('?color=a/b?c:d@e;f=g%2Fh%25zz');
    expect(inQuery('a&b=1#c[d]+e f', given)).toBe('?color=a%26b=1%23c%5Bd%5D%2Be%20f');
    expect(inPath('a:b@c+d&e', given)).toBe('a:b@c+d&e');
    expect(inPath('a/b?c#d', given)).toBe('a%2Fb%3Fc%23d');
  });

  test('[OAS-2] a parameter with a media type is written in it', () => {
    const json = { content_type: 'application/json' };
    expect(inQuery({ a: [1, 'ü'] }, json)).toBe('?color=%7B%22a%22%3A%5B1%2C%22%C3%BC%22%5D%7D');
    expect(inQuery('x', json)).toBe('?color=%22x%22');
    expect(inQuery('x y', { content_type: 'text/plain' })).toBe('?color=x%20y');
    expect(inPath({ a: 1 }, json)).toBe('%7B%22a%22%3A1%7D');
    expect(inHeader({ a: 'ü' }, json)).toBe('{"a":"\\u00fc"}');
    expect(inCookie({ a: 1 }, json)).toBe('color=%7B%22a%22%3A1%7D');
  });

  test('[OAS-2] the whole query may be one parameter', () => {
    const whole = (value: Json, content_type: string) => sent(httpParameter('q', 'querystring', { content_type }), value).target;
    const form = 'application/x-www-form-urlencoded';
    expect(whole({ a: 'x y', b: [1, 2], c: { d: 1 } }, form)).toBe('/x?a=x%20y&b=1&b=2&c=%7B%22d%22%3A1%7D');
    expect(whole({ a: 1 }, 'application/json')).toBe('/x?%7B%22a%22%3A1%7D');
    expect(whole('a=1&b=2 3#4', 'text/plain')).toBe('/x?a=1&b=2%203%234');
  });

  test('[OAS-2] parameters are in the order of the document, and under their original names', () => {
    const parameters = [
      httpParameter('filter[name]', 'query', { argument: 'filter_name' }),
      httpParameter('id', 'path', { argument: 'id_path' }),
      httpParameter('id', 'query', { argument: 'id_query' }),
      httpParameter('X-Trace', 'header', { argument: 'trace' }),
    ];
    const operation = httpOperation({ path: '/users/{id}/posts', server: 'https://api.example.org/v1', parameters });
    const { target, headers } = requestPlan(operation).build({ id_query: 2, id_path: 1, filter_name: 'a', trace: 't' });
    expect(target).toBe('/v1/users/1/posts?filter%5Bname%5D=a&id=2');
    expect(headers).toEqual({ accept: 'application/json', 'user-agent': 'toolcrib', 'x-trace': 't' });
  });

  test('[HTTP-1] a path may have a query of its own, and characters that no address can have', () => {
    const operation = httpOperation({
      path: '/a b/{id}?Action=Go#fragment',
      parameters: [httpParameter('id', 'path'), httpParameter('q', 'query')],
    });
    expect(requestPlan(operation).build({ id: 'x', q: 1 }).target).toBe('/a%20b/x?Action=Go&q=1');
    expect(requestPlan(operation).build({ id: 'x' }).target).toBe('/a%20b/x?Action=Go');
  });
});
