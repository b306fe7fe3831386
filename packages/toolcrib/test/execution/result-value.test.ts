import { describe, expect, test } from 'vitest';
import type { ContentBlock, ToolOutput } from '../../src/model/call.ts';
import type { Json } from '../../src/model/json.ts';
import { joinedText, resultValue } from '../../src/execution/shaper.ts';

const text = (text: string): ContentBlock => ({ type: 'text', text });
const image: ContentBlock = { type: 'image', data: 'aGk=', mimeType: 'image/png' };

describe('[EXEC-2] a text block', () => {
  test.each(
    // Text that looks like data but would lose something, or is not plainly meant as data.
    [
      '007',
      '',
      '0x1F',
      '12345678901234567890',
      '9007199254740993',
      'true',
      'false',
      'null',
      '"quoted"',
      'NaN',
      'Infinity',
      '-0',
      '+1',
      '1.0',
      '1.50',
      '.5',
      '1e5',
      '1E5',
      '1e400',
      ' 1',
      '1 ',
      '1\n',
      '1_000',
      '1,000',
      '٣',
      '-',
      '--1',
      '[',
      '{"a":',
      '[1,]',
      "{'a': 1}",
      '[1] [2]',
      '{} trailing',
      'plain words',
      '\ufeff{}',
      '\u00a0[1]',
      '2026-01-02',
      '-1.2.3',
    ],
  )('of %j stays text', (given) => {
    expect(resultValue({ content: [text(given)] })).toBe(given);
  });

  test.each<[string, Json]>([
    ['0', 0],
    ['7', 7],
    ['-7', -7],
    ['0.1', 0.1],
    ['1e+21', 1e21],
    ['1e-7', 1e-7],
    ['9007199254740991', 9007199254740991],
    ['{}', {}],
    ['[]', []],
    ['{"a":[1,"007",null,true]}', { a: [1, '007', null, true] }],
    [' \n[1, 2]\n', [1, 2]],
    ['[null]', [null]],
  ])('of %j is parsed as a value', (given, value) => {
    expect(resultValue({ content: [text(given)] })).toEqual(value);
  });

  test('with a key named __proto__ is parsed like any other', () => {
    const value = resultValue({ content: [text('{"__proto__": {"admin": true}}')] });
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test('that is too deep to be written again stays text', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(resultValue({ content: [text(deep)] })).toBe(deep);
    const wide = JSON.stringify(Array.from({ length: 5000 }, (_, index) => ({ index })));
    expect(resultValue({ content: [text(wide)] })).toHaveLength(5000);
  });
});

describe('[EXEC-2] the result', () => {
  test.each<[string, ToolOutput, Json]>([
    ['of structured content is that', { content: [text('7')], structured_content: { a: 1 } }, { a: 1 }],
    ['of structured content that is false is that', { content: [text('7')], structured_content: false }, false],
    ['of structured content that is empty is that', { content: [text('7')], structured_content: '' }, ''],
    ['of structured content that is a text is never parsed', { content: [], structured_content: '7' }, '7'],
    ['without structured content is in the text', { content: [text('7')], structured_content: null }, 7],
    ['of several blocks is a list, each read on its own', { content: [text('7'), text('007'), text('[1]')] }, [7, '007', [1]]],
    ['of one text among others is its value', { content: [image, text('{"a":1}')] }, { a: 1 }],
    ['of no text is nothing', { content: [image] }, null],
    ['of nothing is nothing', { content: [] }, null],
    ['of a text block without text is nothing', { content: [{ type: 'text' }] }, null],
    ['of a block that only carries a field called text is nothing', { content: [{ type: 'resource', text: '7' }] }, null],
  ])('%s', (_what, output, expected) => {
    expect(resultValue(output)).toEqual(expected);
  });
});

test.each<[ContentBlock[], string]>([
  [[], ''],
  [[text('a')], 'a'],
  [[text('a'), text('b')], 'a\nb'],
  [[text('a'), image, text('')], 'a\n'],
  [[image], ''],
])('[EXEC-2] the text of %j is %j', (content, expected) => {
  expect(joinedText(content)).toBe(expected);
});
