import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import { outputFromResult } from '../../src/sources/mcp/session/call-result.ts';
import { rawTextOf } from '../../src/sources/mcp/session/raw-text.ts';

const large = fc.string({ unit: 'binary', minLength: 1100, maxLength: 1500 });
const result = (text: string, more: object = {}) => ({ content: [{ type: 'text', text }], ...more });
const messageWith = (value: object) => JSON.stringify({ jsonrpc: '2.0', id: 1_000_000_001, result: value });
const rawOf = (message: string) => rawTextOf(outputFromResult(JSON.parse(message).result), message);

test('[EXEC-2] the JSON of a large text is found in its message', () => {
  fc.assert(
    fc.property(large, (text) => {
      const raw = rawOf(messageWith(result(text)));
      expect(raw?.text).toBe(text);
      expect(JSON.parse(raw?.json ?? '')).toBe(text);
    }),
  );
});

test('[EXEC-2] another text is never taken for it, whatever else is in the message', () => {
  const odd = fc.record({ text: large, before: fc.jsonValue(), name: fc.constantFrom('a', 'text', 'a"text', '"text":"') });
  fc.assert(
    fc.property(odd, ({ text, before, name }) => {
      const raw = rawOf(messageWith({ _meta: { [name]: before as Json }, ...result(text) }));
      expect(raw === undefined ? text : JSON.parse(raw.json)).toBe(text);
    }),
  );
});

test.each([
  ['a short text', result('short')],
  ['two texts', { content: [...result('x'.repeat(2000)).content, ...result('y'.repeat(2000)).content] }],
  ['no text', { content: [{ type: 'image', data: 'x'.repeat(2000), mimeType: 'image/png' }] }],
])('[EXEC-2] %s is written again', (_name, value) => {
  expect(rawOf(messageWith(value))).toBeUndefined();
});
