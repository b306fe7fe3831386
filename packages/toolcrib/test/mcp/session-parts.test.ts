import { describe, expect, test } from 'vitest';
import { readEventStream, type StreamEvent } from '../../src/net/read-event-stream.ts';
import { findParamHeaders, headerValue, paramHeaders } from '../../src/sources/mcp/session/param-headers.ts';
import { parseUriTemplate } from '../../src/sources/mcp/session/uri-template.ts';

describe('the URI template', () => {
  test.each([
    ['a://{b}', ['b'], { b: 'x y/z?' }, 'a://x%20y%2Fz%3F'],
    ['a://{b}/{c}/{b}', ['b', 'c'], { b: '1', c: "it's (2)!*" }, 'a://1/it%27s%20%282%29%21%2A/1'],
    ['a://{b}', ['b'], { b: 'ü\uD800' }, 'a://%C3%BC%EF%BF%BD'],
    ['a://{b}', ['b'], {}, 'a://'],
  ])('%s has the variables %j', (template, variables, values, uri) => {
    const parsed = parseUriTemplate(template);
    expect(parsed?.variables).toEqual(variables);
    expect(parsed?.expand(values)).toBe(uri);
  });

  test.each([
    'a://b',
    'a://{+b}',
    'a://{?b}',
    'a://{b*}',
    'a://{b:3}',
    'a://{b,c}',
    'a://{}',
    'a://{b',
    'a://b}',
    'a://{{b}}',
    'a://{b c}',
  ])('%s is not supported, or has no variables', (template) => expect(parseUriTemplate(template)).toBeUndefined());
});

describe('parameters in headers', () => {
  const annotated = (type: string, name: unknown = 'P') => ({ type, 'x-mcp-header': name });
  const schema = (properties: object) => ({ type: 'object', properties }) as never;

  test('are found at any depth of plain properties', () => {
    const found = findParamHeaders(
      schema({ a: annotated('string', 'A'), o: { type: 'object', properties: { b: annotated('integer', 'B') } } }),
    );
    expect(found).toEqual({
      valid: true,
      headers: [
        { path: ['a'], name: 'A' },
        { path: ['o', 'b'], name: 'B' },
      ],
    });
  });

  test.each([
    ['a type without a plain value', schema({ a: annotated('array') })],
    ['a number', schema({ a: annotated('number') })],
    ['an empty name', schema({ a: annotated('string', '') })],
    ['a name with a line break', schema({ a: annotated('string', 'A\r\nB') })],
    ['a name that is none', schema({ a: annotated('string', 7) })],
    ['one name twice', schema({ a: annotated('string', 'P'), b: annotated('string', 'p') })],
    ['the whole schema', annotated('object') as never],
    ['items', schema({ a: { type: 'array', items: annotated('string') } })],
    ['an alternative', { type: 'object', anyOf: [schema({ a: annotated('string') })] } as never],
    ['a definition', { type: 'object', $defs: { a: annotated('string') } } as never],
  ])('are refused for %s', (_where, given) => expect(findParamHeaders(given)).toMatchObject({ valid: false }));

  test('are left out if the call gives no plain value', () => {
    const headers = ['a', 'b', 'c', 'd', 'e', 'constructor'].map((name) => ({ path: [name], name }));
    expect(paramHeaders(headers, { a: 'x', b: true, c: 12, d: null, e: { f: 1 } })).toEqual({
      'Mcp-Param-a': 'x',
      'Mcp-Param-b': 'true',
      'Mcp-Param-c': '12',
    });
    expect(paramHeaders([{ path: ['n'], name: 'n' }], { n: 2 ** 60 })).toEqual({});
  });

  test.each([
    ['plain text', 'plain text'],
    ['', '=?base64??='],
    [' edge', '=?base64?IGVkZ2U=?='],
    ['ü', '=?base64?w7w=?='],
    ['a\r\nb: c', '=?base64?YQ0KYjogYw==?='],
    ['=?base64?x?=', '=?base64?PT9iYXNlNjQ/eD89?='],
  ])('are written as text: %j as %s', (text, value) => expect(headerValue(text)).toBe(value));
});

describe('event streams', () => {
  async function read(pieces: (string | Uint8Array)[], maxBytes = 1000): Promise<StreamEvent[]> {
    async function* body() {
      for (const piece of pieces) yield Buffer.from(piece);
    }
    const events: StreamEvent[] = [];
    for await (const found of readEventStream(body(), maxBytes)) events.push(found);
    return events;
  }
  const event = (data: string, rest = {}) => ({ event: 'message', data, id: undefined, retryMs: undefined, ...rest });

  test.each<[string, string, object[]]>([
    ['fields', 'event: x\nid: 7\nretry: 20\ndata: a\ndata:b\n\n', [event('a\nb', { event: 'x', id: '7', retryMs: 20 })]],
    ['all line breaks', 'data: a\r\rdata: b\r\n\r\ndata: c\n\n', [event('a'), event('b'), event('c')]],
    ['comments', ': hello\n\n:\n\ndata: a\n\n', [event('a')]],
    ['an id alone', 'id: 1\n\n', [event('', { id: '1' })]],
    ['an unfinished event', 'data: a\n\ndata: b\n', [event('a')]],
    ['wrong retry times and ids', 'retry: soon\nid: a\0b\ndata: x\n\n', [event('x')]],
    ['fields without value', 'data\nid\n\n', [event('', { id: '' })]],
  ])('with %s are read whole and byte by byte', async (_what, text, events) => {
    expect(await read([text])).toEqual(events);
    expect(await read([...Buffer.from(text)].map((byte) => Uint8Array.of(byte)))).toEqual(events);
  });

  test('may cut a character in two, which is put together', async () => {
    const bytes = Buffer.from('data: ü€😀\n\n');
    for (let at = 1; at < bytes.length; at++) expect(await read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual([event('ü€😀')]);
  });

  test('are limited in the size of an event, however it is cut; comments do not count', async () => {
    await expect(read(Array.from({ length: 200 }, () => 'data: 0123456789\n'))).rejects.toMatchObject({ name: 'ProtocolError' });
    await expect(read(['data: ', ...Array.from({ length: 200 }, () => '0123456789')])).rejects.toMatchObject({ name: 'ProtocolError' });
    expect(await read(Array.from({ length: 200 }, () => ': 0123456789\n'))).toEqual([]);
  });
});
