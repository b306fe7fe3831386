import { array, assert, constantFrom, integer, json, oneof, property, string, tuple } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { frame, type Framing, MessageReader } from '../../src/sources/mcp/transports/message-reader.ts';

/** What a reader makes of bytes that come in these pieces. */
function read(pieces: Iterable<Buffer | string>, maxMessageBytes?: number) {
  const messages: unknown[] = [];
  const noise: { reason: string; text: string; answers: string | number | null }[] = [];
  const reader = new MessageReader({ maxMessageBytes, onMessage: (message) => messages.push(message), onNoise: (one) => noise.push(one) });
  for (const piece of pieces) reader.push(Buffer.from(piece));
  return { messages, noise, framing: reader.framing };
}

function cut(bytes: Buffer, places: number[]): Buffer[] {
  const at = [0, ...places.filter((place) => place < bytes.length).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((to, index) => bytes.subarray(at[index], to));
}

const message = (text: string, id = 1) => ({ jsonrpc: '2.0', id, result: { text } });
const line = (text: string, id = 1) => `${JSON.stringify(message(text, id))}\n`;

describe('the messages are the same however the bytes are cut', () => {
  const messages = tuple(string({ unit: 'grapheme' }), integer({ min: 0 })).map(([text, id]) => message(text, id));
  const places = array(integer({ min: 0, max: 3000 }), { maxLength: 60 });
  const chatter = oneof(
    json(),
    constantFrom('DEBUG done', '', '   ', '[1,2', '{"id": ', '{}', 'null', '"😀"', 'Content-Length: x', '[]', '\u001B[31mred'),
  ).map((text) => text.replaceAll('\n', ' '));
  const ends = constantFrom('\n', '\r\n');

  test('[MCP-3] in lines, with noise between them', () => {
    assert(
      property(array(tuple(messages, array(chatter, { maxLength: 3 }), ends)), places, (items, places) => {
        const text = items.map(([message, noise, end]) => [JSON.stringify(message), ...noise].map((one) => one + end).join('')).join('');
        const whole = read([text]);
        expect(whole.messages).toEqual(items.map(([message]) => message));
        expect(read(cut(Buffer.from(text), places))).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });

  test('[MCP-3] in Content-Length frames, with noise between them', () => {
    const header = constantFrom('Content-Length: ', 'content-length:', 'Content-Type: application/json\r\nContent-Length: ');
    const banner = constantFrom('', 'starting\n', 'hello\r\n\r\n');
    const between = constantFrom('', '', 'print\n', 'unended', '\r\n', '{"not":"one"}\n');
    assert(
      property(banner, array(tuple(header, messages, between), { minLength: 1 }), places, (banner, items, places) => {
        const framed = items.map(([header, message, between]) => {
          const body = JSON.stringify(message);
          return `${header}${Buffer.byteLength(body)}\r\n\r\n${body}${between}`;
        });
        const text = banner + framed.join('');
        const whole = read([text]);
        expect(whole.messages).toEqual(items.map(([, message]) => message));
        expect(whole.framing).toBe('content-length');
        expect(read(cut(Buffer.from(text), places))).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a line that is not a message', () => {
  const cases: [string, string, string | number | null][] = [
    ['hello', 'it is not JSON', null],
    ['{"jsonrpc": "2.0", "id": ', 'it is not JSON', null],
    ['{"looks":"fine"}', '`jsonrpc` is not "2.0"', null],
    ['{"jsonrpc":"2.0"}', 'it has neither `method` nor `id`', null],
    ['{"jsonrpc":"2.0","id":7,"result":"text"}', '`result` is not an object', 7],
    ['{"jsonrpc":"2.0","id":"a","result":[]}', '`result` is not an object', 'a'],
    ['{"jsonrpc":"2.0","id":7}', '`result` is not an object', 7],
    ['{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":""}}', 'it has both `result` and `error`', 7],
    ['{"jsonrpc":"2.0","id":7,"error":"text"}', '`error` is not an object', 7],
    ['{"jsonrpc":"2.0","id":7,"error":{"code":"1","message":""}}', '`error.code` is not a whole number', 7],
    ['{"jsonrpc":"2.0","id":7,"error":{"code":1}}', '`error.message` is not a string', 7],
    ['{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}', '`id` is neither a string nor a whole number', null],
    ['{"jsonrpc":"2.0","id":1.5,"result":{}}', '`id` is neither a string nor a whole number', null],
    ['{"id":7,"result":{}}', '`jsonrpc` is not "2.0"', 7],
    ['{"jsonrpc":"2.0","method":5}', '`method` is not a string', null],
    ['{"jsonrpc":"2.0","method":"a","params":[]}', '`params` is not an object', null],
    ['[]', 'it is not an object', null],
    ['[{"jsonrpc":"2.0"}]', 'it has neither `method` nor `id`', null],
  ];
  test.each(cases)('[MCP-3] [ERR-9] is reported and stalls nothing: %s', (text, reason, answers) => {
    const seen = read([`${text}\n${line('after')}`]);
    expect(seen.noise).toEqual([{ reason, text, answers }]);
    expect(seen.messages).toEqual([message('after')]);
  });

  test('[MCP-3] is ignored if it is empty', () => {
    expect(read([`\n\r\n  \n${line('a')}\n\n`])).toEqual({ messages: [message('a')], noise: [], framing: 'lines' });
  });

  test('is reported by its beginning only', () => {
    expect(read([`${'x'.repeat(10_000)}\n`]).noise[0]?.text).toHaveLength(500);
  });
});

test('[MCP-3] every kind of message passes, in an array too, and after a byte order mark', () => {
  const every = [
    { jsonrpc: '2.0', id: 'a', method: 'elicitation/create', params: {} },
    { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
    { jsonrpc: '2.0', id: 0, result: { _meta: { extra: true }, anything: [1] } },
    { jsonrpc: '2.0', id: 1, error: { code: -32601, message: '', data: 'why' } },
  ];
  expect(read([`\uFEFF${every.map((one) => JSON.stringify(one)).join('\n')}\n`]).messages).toEqual(every);
  expect(read([`${JSON.stringify(every)}\n`]).messages).toEqual(every);
});

test('[MCP-3] a body that is not JSON is skipped in Content-Length framing', () => {
  const good = frame(JSON.stringify(message('good')), 'content-length');
  const seen = read([`${good}Content-Length: 5\r\n\r\n{bad}${good}Content-Length: 3\r\n\r\n{"a" cut short\n${good}`]);
  expect(seen.messages).toEqual([message('good'), message('good'), message('good')]);
});

test('[MCP-3] a line that only looks like a header holds nothing up', () => {
  expect(read([`Content-Length: 100\n${line('a')}`])).toMatchObject({ messages: [message('a')], framing: 'lines' });
  expect(read([`Content-Length: 12\r\nServer: x\r\n\r\nHello world!\n${line('a')}`])).toMatchObject({
    messages: [message('a')],
    framing: 'lines',
  });
  expect(read([`${line('a')}Content-Length: 100\n${line('b', 2)}`]).messages).toEqual([message('a'), message('b', 2)]);
});

test.each<Framing>(['lines', 'content-length'])('a message written in the framing of %s is read as such', (framing) => {
  const sent = ['grüße', '😀', 'a\nb'].map((text, id) => message(text, id));
  expect(read([sent.map((one) => frame(JSON.stringify(one), framing)).join('')])).toEqual({ messages: sent, noise: [], framing });
});

describe('a message longer than allowed ends the session', () => {
  const limit = 1000;
  const long = 'x'.repeat(limit);
  test.each([
    ['a line in one piece', [line(long)]],
    ['a line that never ends', Array.from({ length: 11 }, () => 'y'.repeat(100))],
    ['a body', [`Content-Length: ${limit + 1}\r\n\r\n`]],
  ])('when it is %s', (_name, pieces) => {
    expect(() => read(pieces, limit)).toThrow('more than 1000 bytes');
  });

  test('and one of exactly that length does not', () => {
    const text = line('').length - 1;
    expect(read([line('x'.repeat(limit - text))], limit).messages).toHaveLength(1);
  });
});

test('[MCP-3] a large message in small pieces is read in linear time', () => {
  const bytes = Buffer.from(line('x'.repeat(20_000_000)));
  const pieces = Array.from({ length: Math.ceil(bytes.length / 100) }, (_, index) => bytes.subarray(index * 100, index * 100 + 100));
  expect(read(pieces).messages).toHaveLength(1);
});
