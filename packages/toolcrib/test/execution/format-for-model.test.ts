import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { formatForModel } from '../../src/execution/format-for-model.ts';
import type { Json } from '../../src/model/json.ts';

const structured = (value: Json) => formatForModel({ success: true, structured_content: value, text: 'the text', error: null });

/** A value in so many objects. */
function nested(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level++) value = { value };
  return value;
}

describe('[EXEC-5] the text shown to a model', () => {
  test('is structured content as YAML, with multi-line texts as blocks', () => {
    expect(structured({ city: 'Bern', days: [{ high: 21.5, note: 'sun\nthen rain' }], alerts: [] })).toBe(
      ['city: Bern', 'days:', '  - high: 21.5', '    note: |-', '      sun', '      then rain', 'alerts: []'].join('\n'),
    );
  });

  test('is the text if there is no structured content', () => {
    expect(structured(null)).toBe('the text');
  });

  test('is the message of a failure, whatever else there is', () => {
    const failed = { success: false, structured_content: { message: 'x' }, text: 'long words' };
    expect(formatForModel({ ...failed, error: { message: 'No such city (code=404)' } })).toBe('No such city (code=404)');
    expect(formatForModel({ ...failed, error: null })).toBe('long words');
  });

  test.each([
    '007',
    'yes',
    'No',
    'on',
    'null',
    '~',
    'true',
    '2026-11-16',
    '2026-11-16T10:00:00Z',
    '12:30:45',
    '0o17',
    '0x1F',
    '1e3',
    '',
    ' x ',
    'x\n',
    'x\n\n',
    '\n',
  ])('keeps the text %j a text, for readers of YAML 1.1 and 1.2', (text) => {
    const written = structured({ value: text });
    expect([parse(written, { version: '1.2' }), parse(written, { version: '1.1' })]).toEqual([{ value: text }, { value: text }]);
  });

  test('reads back as the same value, whatever it is', () => {
    // Through JSON first, which knows no negative zero.
    const value = fc.json({ maxDepth: 4 }).map((text) => JSON.parse(text) as Json);
    fc.assert(
      fc.property(value, (value) => {
        expect(parse(formatForModel({ success: true, structured_content: { value }, text: '', error: null }))).toEqual({ value });
      }),
    );
  });

  test('is JSON, which is YAML too, if it is large or deep', () => {
    const large = Array.from({ length: 5000 }, (_, index) => ({ index }));
    expect(structured(large)).toBe(JSON.stringify(large));
    expect(structured(nested(1000))).toBe(JSON.stringify(nested(1000)));
  });
});
