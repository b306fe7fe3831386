import { expect, test } from 'vitest';
import { wireText } from '../../src/sources/upstream/logs/wire-text.ts';

const token = `eyJ${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(20)}`;

test.each<[name: string, message: unknown, shown: string]>([
  ['a message without secrets stays unchanged', { id: 1, method: 'ping' }, '{"id":1,"method":"ping"}'],
  ['a field with the name of a secret', { arguments: { api_key: 'abc', city: 'Bern' } }, '{"arguments":{"api_key":"***","city":"Bern"}}'],
  ["the protocol's own token is none", { _meta: { progressToken: 'seven' } }, '{"_meta":{"progressToken":"seven"}}'],
  ['a token as a value', { text: token }, '{"text":"***"}'],
  ['a token within a text', { text: `it is ${token}, is it not` }, '{"text":"it is ***, is it not"}'],
  ['a header within a text', { text: 'Authorization: Bearer 0123456789abcdef' }, '{"text":"Authorization: Bearer ***"}'],
])('[OPS-1] a message is shown without its secrets: %s', (_name, message, shown) => {
  expect(wireText(message)).toBe(shown);
});

test('[OPS-1] long lists, long texts and deep messages are cut short', () => {
  expect(wireText({ list: Array.from({ length: 100_000 }, () => 1) }).length).toBeLessThan(1000);
  expect(wireText({ text: 'x'.repeat(10_000_000) }).length).toBeLessThan(200_000);
  const deep = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000)) as unknown;
  expect(wireText({ deep })).toContain('nested too deeply');
});
