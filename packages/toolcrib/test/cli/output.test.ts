import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { align } from '../../src/text/align.ts';
import { callArguments } from '../../src/cli/call-arguments.ts';
import { closest } from '../../src/model/closest.ts';
import { describeEvent } from '../../src/cli/describe-event.ts';
import { readEventStream } from '../../src/net/read-event-stream.ts';
import { printable } from '../../src/text/printable.ts';

test.each([
  ['srve', 'serve'],
  ['sevre', 'serve'],
  ['tool', 'tools'],
  ['cal', 'call'],
  ['doc', 'doctor'],
  ['', undefined],
  ['x', undefined],
  ['elephant', undefined],
])('the command closest to %j is %j', (word, meant) => {
  expect(closest(word, ['serve', 'tools', 'call', 'doctor'])).toBe(meant);
});

describe('columns', () => {
  test('are aligned, and the last is cut to the width', () => {
    expect(
      align(
        [
          ['a', 'first line\nsecond line'],
          ['longer', 'short'],
        ],
        { width: 20 },
      ),
    ).toEqual(['a       first line…', 'longer  short']);
  });

  test('stay aligned with wide letters and combining marks', () => {
    expect(
      align([
        ['日本', 'x'],
        ['e\u0301', 'y'],
        ['abcd', 'z'],
      ]),
    ).toEqual(['日本  x', 'e\u0301     y', 'abcd  z']);
    expect(align([['日本語日本語']], { width: 10 })).toEqual(['日本語日…']);
  });

  test('are not shifted by colours', () => {
    const lines = align(
      [
        ['a', 'x'],
        ['bb', 'y'],
      ],
      { paint: (text, column) => (column === 0 ? `<${text}>` : text) },
    );
    expect(lines).toEqual(['<a >  x', '<bb>  y']);
  });
});

test.each([
  ['plain text\n\twith a tab', 'plain text\n\twith a tab'],
  ['\u001b[31mred\u001b[0m', 'red'],
  ['\u001b]52;c;c3RvbGVu\u0007after', 'after'],
  ['over\rwritten', 'overwritten'],
  ['line\r\nline', 'line\nline'],
  ['bell\u0007 back\b \u009b2J', 'bell back '],
  ['abc\u202edef\u2066', 'abcdef'],
])('control characters are removed from %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

const pairs: [pair: string, value: unknown][] = [
  ['a=text', 'text'],
  ['a=', ''],
  ['a=1', 1],
  ['a=1.50', 1.5],
  ['a=007', '007'],
  ['a=12345678901234567890', '12345678901234567890'],
  ['a=true', true],
  ['a=null', null],
  ['a="quoted"', 'quoted'],
  ['a=[1, 2]', [1, 2]],
  ['a={"b": {"c": 1}}', { b: { c: 1 } }],
  ['a={broken', '{broken'],
  ['a=b=c', 'b=c'],
];

describe("a tool's arguments", () => {
  const nothing = () => Readable.from([]);

  test.each(pairs)('are taken from --arg %s as JSON if it is JSON, and as text otherwise', async (pair, value) => {
    expect(await callArguments(undefined, [pair], nothing())).toEqual({ a: value });
  });

  test('are set one by one on top of the object', async () => {
    expect(await callArguments('{"a": 1, "b": 2}', ['b=3', 'c=4'], nothing())).toEqual({ a: 1, b: 3, c: 4 });
  });

  test('are read as an object from standard input when a dash is given', async () => {
    expect(await callArguments('-', ['b=2'], Readable.from(['{"a"', ': 1}']))).toEqual({ a: 1, b: 2 });
  });

  test('may have names that are special in JavaScript', async () => {
    expect(JSON.stringify(await callArguments(undefined, ['__proto__=1'], nothing()))).toBe('{"__proto__":1}');
  });

  test.each(['', 'null', '[]', '"text"', '{'])('are refused when %j is not an object', async (json) => {
    await expect(callArguments(json, [], nothing())).rejects.toThrow('must be a JSON object');
  });
});

describe('an event stream', () => {
  const stream =
    ': comment\nid: 1\nevent: progress\ndata: {"progress": 1}\n\ndata: first\r\ndata:second\r\n\r\nevent: nothing\n\nevent: result\rdata: ü\r\r\n';
  const expected = [
    { event: 'progress', data: '{"progress": 1}' },
    { event: 'message', data: 'first\nsecond' },
    { event: 'result', data: 'ü' },
  ];

  test.each([1, 2, 3, 7, 1000])('is read in order, also in pieces of %d bytes', async (size) => {
    const bytes = Buffer.from(stream);
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
    const events: { event: string; data: string }[] = [];
    for await (const { event, data } of readEventStream(Readable.from(pieces), Infinity)) events.push({ event, data });
    expect(events).toEqual(expected);
  });

  test.each([
    ['progress', { progress: 1, total: 4, message: 'a quarter' }, '1 of 4  a quarter'],
    ['progress', { progress: 3 }, '3'],
    ['progress', { progress: 3, message: 'baking (checked 3 times, at most 60)' }, 'baking (checked 3 times, at most 60)'],
    ['progress', { progress: 'soon' }, 'progress: {"progress":"soon"}'],
    ['log', { level: 'warning', data: 'careful' }, 'warning: careful'],
    ['log', { level: 'info', data: { a: 1 } }, 'info: {"a":1}'],
    ['elicitation', { message: 'Sure?' }, 'elicitation: {"message":"Sure?"}'],
  ])('shows %s %j as one line', (event, value, line) => {
    expect(describeEvent(event, value)).toBe(line);
  });
});
