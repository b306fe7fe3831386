import { describe, expect, test } from 'vitest';
import { cutOutput } from '../../src/execution/cut-output.ts';
import { fitsWithin } from '../../src/execution/shaper.ts';
import { jsonSize } from '../../src/model/json-size.ts';
import type { ContentBlock } from '../../src/model/call.ts';
import type { Json } from '../../src/model/json.ts';

const text = (text: string): ContentBlock => ({ type: 'text', text });
const addressOf = (n: number) => `/artifacts/${n}`;
const shown = (artifacts: { data: Buffer }[]) => artifacts.map(({ data }) => data.toString());

function nested(levels: number): Json {
  let value: Json = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

describe('[EXEC-7] the measured size of a value', () => {
  test.each<[string, Json]>([
    ['nothing', null],
    ['text', 'plain'],
    ['text of other scripts', 'ünï 漢字 😀'],
    ['half a character', '\ud800'],
    ['objects and lists', { a: [1, 2, { b: 'c' }], ä: null, long: 'x'.repeat(5000) }],
  ])('is never less than its text, and not much more: %s', (_what, value) => {
    const bytes = Buffer.byteLength(JSON.stringify(value));
    const strings = JSON.stringify(value).length;
    expect(jsonSize(value, { most: Infinity })).toBeGreaterThanOrEqual(strings / 2);
    expect(jsonSize(value, { most: Infinity, exact: true })).toBeLessThanOrEqual(bytes + 8 * 20);
  });

  test('stops counting once it is too much, and is infinite for what cannot be written', () => {
    const many = Array.from({ length: 100_000 }, () => 1);
    expect(jsonSize(many, { most: 1000 })).toBeLessThan(1100);
    expect(jsonSize(nested(100_000), { most: Infinity })).toBe(Infinity);
    expect(jsonSize(nested(1000), { most: Infinity })).toBeLessThan(10_000);
  });
});

describe('[EXEC-7] an answer that is too large', () => {
  test.each<[string, ContentBlock[], boolean]>([
    ['a short text', [text('x')], true],
    ['a text just below', [text('x'.repeat(900))], true],
    ['a text above', [text('x'.repeat(1100))], false],
    ['a text above only in bytes', [text('漢'.repeat(400))], false],
    ['many small parts', Array.from({ length: 100 }, () => text('')), false],
  ])('is told apart from one that is not: %s', (_which, content, fits) => {
    expect(fitsWithin({ content }, 1000)).toBe(fits);
  });

  test('has its text cut between two characters, with a line that says how much there is and where all of it is', () => {
    const whole = '漢字😀'.repeat(500);
    const { output, artifacts } = cutOutput({ content: [text(whole)] }, 1024, addressOf);
    const [beginning, marker] = (output.content[0]?.text ?? '').split('\n');
    expect(whole.startsWith(beginning ?? '?')).toBe(true);
    expect(beginning?.isWellFormed()).toBe(true);
    expect(marker).toBe(`[Cut after ${beginning?.length} characters. The whole is at /artifacts/1]`);
    expect(shown(artifacts)).toEqual([whole]);
    expect(artifacts[0]).toMatchObject({ type: 'text', mime_type: 'text/plain; charset=utf-8' });
    expect(Buffer.byteLength(output.content[0]?.text ?? '')).toBeLessThan(1024);
  });

  test('loses structured content as a whole, but keeps it if only the text is too large', () => {
    const large = { rows: Array.from({ length: 500 }, (_, index) => index) };
    const lost = cutOutput({ content: [text('short')], structured_content: large }, 1024, addressOf);
    expect(lost.output.structured_content).toBeNull();
    expect(lost.output.content).toEqual([
      text('short'),
      text('[The structured content is too large to show here. The whole is at /artifacts/1]'),
    ]);
    expect(JSON.parse(shown(lost.artifacts)[0] ?? '')).toEqual(large);
    const kept = cutOutput({ content: [text('x'.repeat(5000))], structured_content: { sum: 1 } }, 2048, addressOf);
    expect([kept.output.structured_content, kept.artifacts.length]).toEqual([{ sum: 1 }, 1]);
  });

  test('has pictures, sounds and files stored as artifacts of their type, and keeps what follows', () => {
    const bytes = Buffer.alloc(3000, 7);
    const data = bytes.toString('base64');
    const content: ContentBlock[] = [
      { type: 'image', data, mimeType: 'image/png' },
      { type: 'audio', data, mimeType: 'text/html\r\nset-cookie: x' },
      { type: 'resource', resource: { uri: 'file:///a', blob: data, mimeType: 'application/pdf' } },
      { type: 'resource', resource: { uri: 'file:///b', text: 'y'.repeat(3000), mimeType: 'text/html' } },
      { type: 'odd', words: 'z'.repeat(3000) },
      text('after'),
    ];
    const { output, artifacts } = cutOutput({ content }, 1024, addressOf);
    expect(artifacts.map(({ type, mime_type }) => [type, mime_type])).toEqual([
      ['image', 'image/png'],
      ['audio', 'application/octet-stream'],
      ['resource', 'application/pdf'],
      ['resource', 'text/plain; charset=utf-8'],
      ['content', 'application/json'],
    ]);
    expect(artifacts.slice(0, 3).every((artifact) => artifact.data.equals(bytes))).toBe(true);
    expect(output.content[0]).toEqual(text('[This part (image) is too large to show here. The whole is at /artifacts/1]'));
    expect(output.content.at(-1)).toEqual(text('after'));
  });

  test('[HTTP-2] of a service has every file stored as an artifact, however small, without being cut for that', () => {
    const file = { uri: 'attachment:a.pdf', name: 'a.pdf', mimeType: 'application/pdf', blob: 'JVBERg==' };
    const content: ContentBlock[] = [text('before'), { type: 'resource', resource: file }];
    const { output, artifacts, truncated } = cutOutput({ content }, 1024, addressOf, { takeFiles: true });
    expect(output.content).toEqual([text('before'), text('[a.pdf (application/pdf, 4 bytes). The whole is at /artifacts/1]')]);
    expect([artifacts[0]?.name, shown(artifacts), truncated]).toEqual(['a.pdf', ['%PDF'], false]);
    expect(cutOutput({ content }, 1024, addressOf).output.content).toEqual(content);
  });

  test('of very many parts has a bounded number of artifacts, the last with all the rest', () => {
    const content = Array.from({ length: 5000 }, (_, index) => text(`part ${index}`));
    const { output, artifacts } = cutOutput({ content }, 1024, addressOf);
    expect(artifacts).toHaveLength(16);
    expect(output.content.length).toBeLessThan(60);
    const rest = JSON.parse(shown(artifacts)[15] ?? '') as ContentBlock[];
    expect(output.content.at(-1)?.text).toBe(`[${rest.length} more parts do not fit here. The whole is at /artifacts/16]`);
    expect(rest.at(-1)).toEqual(text('part 4999'));
  });

  test('says so if nothing could be kept, or if it is too deep to be written at all', () => {
    expect(cutOutput({ content: [text('x'.repeat(5000))] }, 1024, undefined).output.content[0]?.text).toMatch(
      /The rest could not be kept\.]$/,
    );
    const deep = cutOutput({ content: [], structured_content: nested(100_000) }, 1024, addressOf);
    expect(deep.artifacts).toEqual([]);
    expect(deep.output.content[0]?.text).toContain('nested too deeply to be kept');
  });

  test('loses metadata of the server that is too large, and keeps the rest', () => {
    const output = { content: [text('x')], metadata: { upstream_meta: { deep: nested(5000) }, called: 'a' } };
    expect(fitsWithin(output, 100_000)).toBe(false);
    expect(cutOutput(output, 100_000, addressOf).output).toEqual({ content: [text('x')], metadata: { upstream_meta: null, called: 'a' } });
  });
});
