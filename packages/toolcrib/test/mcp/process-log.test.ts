import { array, assert, boolean, constantFrom, nat, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { createServerLog, type LogLine, type ServerLogOptions } from '../../src/sources/upstream/logs/server-log.ts';

function makeLog(options: Partial<ServerLogOptions> = {}) {
  return createServerLog({ redact: (text) => text.replaceAll('s3cret', '***'), now: () => 42, ...options });
}
const texts = (lines: LogLine[]) => lines.map(({ text }) => text);

test('[MCP-3] lines have their time and origin', () => {
  const log = makeLog();
  log.writer('stderr').write(Buffer.from('said\n'));
  log.append('event', 'happened');
  expect(log.tail(10)).toEqual([
    { time: 42, stream: 'stderr', text: 'said' },
    { time: 42, stream: 'event', text: 'happened' },
  ]);
  expect(texts(log.tail(1))).toEqual(['happened']);
  expect(log.tail(0)).toEqual([]);
});

test('[MCP-3] lines are the same however the bytes are cut', () => {
  const lines = array(string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !/\p{C}|\p{Z}/u.test(text) && text !== ''));
  assert(
    property(lines, array(nat(200)), constantFrom('\n', '\r\n'), boolean(), (expected, cuts, newline, ended) => {
      const log = makeLog({ redact: (text) => text });
      const writer = log.writer('stderr');
      const bytes = Buffer.from(expected.join(newline) + (ended ? newline : ''));
      const at = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      for (const [index, from] of at.entries()) writer.write(bytes.subarray(from, at[index + 1] ?? from));
      writer.end();
      expect(texts(log.tail(1000))).toEqual(expected);
    }),
  );
});

test('[MCP-3] only the last lines are kept, however many there are', () => {
  const log = makeLog({ maxLines: 3, maxBytes: 20, maxLineLength: 10 });
  for (const word of ['one', 'two', 'three', 'four']) log.append('event', word);
  expect(texts(log.tail(10))).toEqual(['two', 'three', 'four']);
  log.append('event', '12345678901234567890');
  expect(texts(log.tail(10))).toEqual(['four', '123456789…']);
});

test('a line without an end takes no more than the longest line', () => {
  const log = makeLog({ maxLineLength: 5 });
  const writer = log.writer('stderr');
  for (let piece = 0; piece < 1000; piece++) writer.write(Buffer.alloc(10_000, 'x'));
  writer.write(Buffer.from('\nnext\n'));
  expect(texts(log.tail(10))).toEqual(['xxxx…', 'next']);
});

test('a character of two code units is not cut in half', () => {
  const log = makeLog({ maxLineLength: 4 });
  log.append('event', 'ab😀cd');
  expect(texts(log.tail(1))).toEqual(['ab…']);
});

test('[ENV-4] a secret is removed, even if it comes in pieces, in colours, or across the cut', () => {
  const log = makeLog({ maxLineLength: 12 });
  const writer = log.writer('stderr');
  for (const piece of ['key: s3', 'cr', 'et.\n', 's3\u001B[31mcr\u001B[0met\n', '1234567890s3cret\n']) writer.write(Buffer.from(piece));
  expect(texts(log.tail(10))).toEqual(['key: ***.', '***', '1234567890*…']);
});

const escapes: [string, string][] = [
  ['\u001B[1;31mred\u001B[0m', 'red'],
  ['\u001B]0;title\u0007text', 'text'],
  ['\u001B]8;;https://example.org\u001B\\link\u001B]8;;\u001B\\', 'link'],
  ['\u001B[2J\u001B[Hclear', 'clear'],
  ['\u001B(Bcharset', 'charset'],
  ['progress 1%\rprogress 2%', 'progress 1%progress 2%'],
  ['bell\u0007 and\u0000 zero', 'bell and zero'],
  ['\u202Eturned\u202C', 'turned'],
  ['tab\tstays', 'tab\tstays'],
  ['grüße 😀', 'grüße 😀'],
  ['unfinished \u001B[', 'unfinished'],
];
test.each(escapes)('control characters are removed from %j', (said, kept) => {
  const log = makeLog();
  log.append('event', said);
  expect(texts(log.tail(1))).toEqual([kept]);
});

test('hostile escapes take no longer than their length', () => {
  const log = makeLog();
  log.append('event', '\u001B[;'.repeat(20_000));
  log.append('event', `\u001B]${'\u001B'.repeat(60_000)}`);
  log.append('event', `\u001B[${'0'.repeat(60_000)}`);
  expect(log.tail(10)).toEqual([]);
});

test('two processes of one source do not mix their lines, and each knows its own', () => {
  const log = makeLog();
  const [first, second] = [log.writer('stderr'), log.writer('stderr')];
  first.write(Buffer.from('from the '));
  second.write(Buffer.from('of the second\n'));
  first.write(Buffer.from('first\n'));
  expect(texts(log.tail(10))).toEqual(['of the second', 'from the first']);
  expect(first.tail(10)).toEqual(['from the first']);
});

test('a follower gets every further line until it has enough', () => {
  const log = makeLog();
  log.append('event', 'before');
  const heard: string[] = [];
  const enough = log.onLine(({ text }) => heard.push(text));
  log.append('event', 'one\ntwo');
  enough();
  log.append('event', 'after');
  expect(heard).toEqual(['one', 'two']);
});
