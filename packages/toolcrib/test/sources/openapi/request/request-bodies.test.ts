import { describe, expect, test } from 'vitest';
import type { HttpRequestBody } from '../../../../src/model/http-operation.ts';
import type { Json } from '../../../../src/model/json.ts';
import { requestPlan } from '../../../../src/sources/openapi/request/request-plan.ts';
import { httpBody, httpOperation, partEncoding } from '../http-operation.ts';

function built(body: HttpRequestBody, value: Json) {
  const operation = httpOperation({ method: 'POST', body });
  const { headers, body: content } = requestPlan(operation).build({ body: value }, () => 'BOUNDARY');
  return { type: headers['content-type'], content };
}

const form = (value: Json, encoding: HttpRequestBody['encoding'] = {}) =>
  built(httpBody('form', 'application/x-www-form-urlencoded', encoding), value).content;

/** Latin-1, so that every byte is one letter. */
function parts(value: Json, encoding: HttpRequestBody['encoding'] = {}): string[] {
  const { type, content } = built(httpBody('multipart', 'multipart/form-data', encoding), value);
  expect(type).toBe('multipart/form-data; boundary=BOUNDARY');
  return (content as Buffer).toString('latin1').split('\r\n');
}

describe('[OAS-2] a body', () => {
  test('of JSON is what JSON.stringify makes of it, null too', () => {
    expect(built(httpBody('json', 'application/json'), { a: [1, 'ü', null] })).toEqual({
      type: 'application/json',
      content: '{"a":[1,"ü",null]}',
    });
    expect(built(httpBody('json', 'application/merge-patch+json'), null)).toEqual({
      type: 'application/merge-patch+json',
      content: 'null',
    });
  });

  test('that is not given leaves no content type', () => {
    const operation = httpOperation({ method: 'POST', body: { ...httpBody('json', 'application/json'), required: false } });
    const { headers, body } = requestPlan(operation).build({});
    expect(body).toBeUndefined();
    expect(headers).not.toHaveProperty('content-type');
  });

  test('of text is sent as it is, and of bytes as decoded base64', () => {
    expect(built(httpBody('text', 'text/plain'), 'Grüße\n').content).toBe('Grüße\n');
    expect(built(httpBody('text', 'application/xml'), '<a/>')).toEqual({ type: 'application/xml', content: '<a/>' });
    expect(built(httpBody('text', 'text/plain'), 7).content).toBe('7');
    expect(built(httpBody('binary', 'image/png'), 'iVBORw0KGgo=').content).toEqual(Buffer.from('89504e470d0a1a0a', 'hex'));
    expect(built(httpBody('binary', 'application/octet-stream'), '').content).toEqual(Buffer.alloc(0));
  });

  test.each<[charset: string, text: string, bytes: string]>([
    ['utf-16', 'aü', 'fffe6100fc00'],
    ['UTF-16BE', 'aü', '006100fc'],
    ['utf-16le', 'aü', '6100fc00'],
    ['"iso-8859-1"', 'aü', '61fc'],
    ['us-ascii', 'a', '61'],
    ['windows-1252', '€', '80'],
    ['koi8-r', 'я', 'd1'],
  ])('of text is written in the charset of its type: %s', (charset, text, bytes) => {
    const { type, content } = built(httpBody('text', `text/plain;charset=${charset}`), text);
    expect(type).toBe(`text/plain;charset=${charset}`);
    expect((content as Buffer).toString('hex')).toBe(bytes);
    const [, , , , part = ''] = parts({ a: text }, { a: partEncoding({ content_type: `text/plain; charset=${charset}` }) });
    expect(Buffer.from(part, 'latin1').toString('hex')).toBe(bytes);
  });

  test('may name UTF-8 or not, and JSON is escaped for every other charset', () => {
    expect(built(httpBody('text', 'text/plain; charset=UTF-8'), 'ü€').content).toBe('ü€');
    expect(built(httpBody('json', 'application/json; charset=utf-8'), 'ü').content).toBe('"ü"');
    expect(built(httpBody('json', 'application/json; charset=iso-8859-1'), '€').content).toEqual(Buffer.from('"\\u20ac"'));
  });

  test.each([
    ['us-ascii', 'ü', /contains "ü", which cannot be written in us-ascii/],
    ['iso-8859-1', '€', /contains "€"/],
    ['shift_jis', '漢', /contains "漢"/],
    ['ebcdic-9', 'a', /would be sent in ebcdic-9.*correct the document/],
  ])('that the charset %s cannot express is refused', (charset, text, message) => {
    expect(() => built(httpBody('text', `text/plain; charset=${charset}`), text)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', message: expect.stringMatching(message) }),
    );
  });

  test.each<[what: string, Json, HttpRequestBody['encoding'], string]>([
    ['single values', { a: 'x y', b: 1, c: true, d: '' }, {}, 'a=x%20y&b=1&c=true&d='],
    ['nothing for null', { a: null, b: 1 }, {}, 'b=1'],
    ['lists repeated', { a: [1, 2] }, {}, 'a=1&a=2'],
    ['objects as JSON', { a: { b: [1] } }, {}, 'a=%7B%22b%22%3A%5B1%5D%7D'],
    ['lists with commas where that is the style', { a: [1, 2] }, { a: partEncoding({ style: 'form', explode: false }) }, 'a=1,2'],
    ['pipes', { a: ['x', 'y'] }, { a: partEncoding({ style: 'pipeDelimited', explode: false }) }, 'a=x%7Cy'],
    [
      'deep objects, as payment services want them',
      { items: [{ price: 'p', n: 2 }], meta: { k: 'v' } },
      { items: partEncoding({ style: 'deepObject' }), meta: partEncoding({ style: 'deepObject' }) },
      'items%5B0%5D%5Bprice%5D=p&items%5B0%5D%5Bn%5D=2&meta%5Bk%5D=v',
    ],
    ['exploded objects', { a: { b: 1, c: 2 } }, { a: partEncoding({ style: 'form' }) }, 'b=1&c=2'],
    ['a list in a media type of its own', { a: [1, 2] }, { a: partEncoding({ content_type: 'application/json' }) }, 'a=%5B1%2C2%5D'],
    ['reserved letters where they may stay', { a: 'x/y&z' }, { a: partEncoding({ allow_reserved: true }) }, 'a=x/y%26z'],
  ])('that is a form has %s', (_what, value, encoding, expected) => {
    expect(form(value, encoding)).toBe(expected);
  });

  test('of parts has text without a type, objects as JSON, and lists as parts of one name', () => {
    expect(parts({ a: 'ä', n: 1, o: { b: 1 }, l: ['x', 'y'], none: null })).toEqual([
      '--BOUNDARY',
      'Content-Disposition: form-data; name="a"',
      '',
      Buffer.from('ä').toString('latin1'),
      '--BOUNDARY',
      'Content-Disposition: form-data; name="n"',
      '',
      '1',
      '--BOUNDARY',
      'Content-Disposition: form-data; name="o"',
      'Content-Type: application/json',
      '',
      '{"b":1}',
      '--BOUNDARY',
      'Content-Disposition: form-data; name="l"',
      '',
      'x',
      '--BOUNDARY',
      'Content-Disposition: form-data; name="l"',
      '',
      'y',
      '--BOUNDARY--',
      '',
    ]);
  });

  test('of parts has files after everything else, in any given order', () => {
    const lines = parts({ file: 'AA==', about: 'x' }, { file: partEncoding({ binary: true }) });
    expect(lines.filter((line) => line.startsWith('Content-Disposition'))).toEqual([
      'Content-Disposition: form-data; name="about"',
      'Content-Disposition: form-data; name="file"; filename="file"',
    ]);
  });

  test('of parts has files with names, types and headers, several of them, and no name that ends the line', () => {
    const encoding = {
      f: partEncoding({ binary: true, content_type: 'image/png, image/jpeg', headers: { 'X-A': '1\r\nX-B: 2', 'Content-Type': 'no' } }),
      g: partEncoding({ binary: true, content_type: 'image/*' }),
    };
    expect(
      parts(
        {
          f: 'AP8=',
          g: [
            { data: 'AA==', filename: 'a"b\r\n.png' },
            { data: 'AQ==', content_type: 'image/gif' },
          ],
        },
        encoding,
      ),
    ).toEqual([
      '--BOUNDARY',
      'Content-Disposition: form-data; name="f"; filename="f"',
      'Content-Type: image/png',
      'X-A: 1  X-B: 2',
      '',
      '\x00\xff',
      '--BOUNDARY',
      'Content-Disposition: form-data; name="g"; filename="a%22b%0D%0A.png"',
      'Content-Type: application/octet-stream',
      '',
      '\x00',
      '--BOUNDARY',
      'Content-Disposition: form-data; name="g"; filename="g"',
      'Content-Type: image/gif',
      '',
      '\x01',
      '--BOUNDARY--',
      '',
    ]);
  });

  test('of parts has parts with a type or style of their own', () => {
    const encoding = {
      x: partEncoding({ content_type: 'application/xml' }),
      j: partEncoding({ content_type: 'application/json' }),
      c: partEncoding({ style: 'form', explode: false }),
      d: partEncoding({ style: 'deepObject' }),
    };
    const lines = parts({ x: '<a/>', j: [1, 2], c: ['a', 'b'], d: { k: 'v' } }, encoding);
    expect(lines.filter((line) => line !== '' && line !== '--BOUNDARY')).toEqual([
      'Content-Disposition: form-data; name="x"',
      'Content-Type: application/xml',
      '<a/>',
      'Content-Disposition: form-data; name="j"',
      'Content-Type: application/json',
      '[1,2]',
      'Content-Disposition: form-data; name="c"',
      'a,b',
      'Content-Disposition: form-data; name="d[k]"',
      'v',
      '--BOUNDARY--',
    ]);
  });

  test.each([
    ['multipart/form-data; boundary=evil', 'multipart/form-data; boundary=BOUNDARY'],
    ['multipart/related; type="a/b"; Boundary="e;vil"; start=1', 'multipart/related; type="a/b"; start=1; boundary=BOUNDARY'],
  ])('with a documented boundary, as in %s, uses its own instead', (documented, sent) => {
    const { type, content } = built(httpBody('multipart', documented), { a: 1 });
    expect(type).toBe(sent);
    expect((content as Buffer).toString()).toMatch(/^--BOUNDARY\r\n/);
  });

  test.each<[what: string, Json]>([
    ['an empty object', [{}, {}, { rate: 'x' }]],
    ['null', [null, { rate: 'x' }]],
    ['an object of nothing', [{ rate: 'x' }, { a: { b: [] } }]],
  ])('that is a form is refused if %s would leave a gap in a list', (_what, options) => {
    const encoding = { options: partEncoding({ style: 'deepObject' }) };
    expect(() => form({ options }, encoding)).toThrow(/^arguments\.body\.options has an empty item \d in a list.*leave the item out$/);
    expect(form({ options: [{ rate: 'x' }, 1, { rate: 'y' }] }, encoding)).toBe(
      'options%5B0%5D%5Brate%5D=x&options%5B1%5D=1&options%5B2%5D%5Brate%5D=y',
    );
    expect(form({ options: ['x', null, 'y'] }, encoding)).toBe('options%5B%5D=x&options%5B%5D=y');
  });

  test('has a new boundary each time', () => {
    const operation = httpOperation({ method: 'POST', body: httpBody('multipart', 'multipart/form-data') });
    const types = [1, 2].map(() => requestPlan(operation).build({ body: { a: 1 } }).headers['content-type']);
    expect(new Set(types).size).toBe(2);
  });
});
