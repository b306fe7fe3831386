import { applyPatch } from 'diff';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { openBuiltins, structuredOf, textOf } from './builtin-caller.ts';

const builtins = openBuiltins();
afterAll(() => builtins.close());

test.each<[string, JsonObject, { added: number; removed: number }, string]>([
  [
    'a changed line',
    { before: 'a\nb\nc\n', after: 'a\nB\nc\n' },
    { added: 1, removed: 1 },
    '--- before\n+++ after\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n',
  ],
  [
    'an added line, without context, under a name',
    { before: 'a\nc\n', after: 'a\nb\nc\n', context_lines: 0, name: 'list.txt' },
    { added: 1, removed: 0 },
    '--- list.txt\n+++ list.txt\n@@ -1,0 +2,1 @@\n+b\n',
  ],
  ['a text from nothing', { before: '', after: 'a\n' }, { added: 1, removed: 0 }, '--- before\n+++ after\n@@ -0,0 +1,1 @@\n+a\n'],
  [
    'a missing end of line',
    { before: 'a\n', after: 'a' },
    { added: 1, removed: 1 },
    '--- before\n+++ after\n@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n',
  ],
  [
    'lines that look like a diff',
    { before: '-- x\n', after: '++ x\n' },
    { added: 1, removed: 1 },
    '--- before\n+++ after\n@@ -1,1 +1,1 @@\n--- x\n+++ x\n',
  ],
  [
    'a name that tries to add a line',
    { before: 'a\n', after: 'b\n', name: 'x\n+evil' },
    { added: 1, removed: 1 },
    '--- "x\\n+evil"\n+++ "x\\n+evil"\n@@ -1,1 +1,1 @@\n-a\n+b\n',
  ],
])('[BI-1] text_diff shows %s', async (_, args, counts, diff) => {
  const output = await builtins.call('text_diff', args);
  expect(structuredOf(output)).toEqual({ identical: false, ...counts, diff, truncated: false });
  expect(textOf(output)).toBe(diff);
});

test('[BI-1] text_diff says that two equal texts are identical', async () => {
  for (const text of ['', 'a\nb', 'a\r\nb\r\n']) {
    const output = await builtins.call('text_diff', { before: text, after: text });
    expect(structuredOf(output)).toEqual({ identical: true, added: 0, removed: 0, diff: '', truncated: false });
    expect(textOf(output)).toBe('The texts are identical.');
  }
});

test('[BI-1] a diff that is too long is cut at the end of a line, and says so', async () => {
  const after = Array.from({ length: 50_000 }, (_, i) => `line ${i}\n`).join('');
  const output = await builtins.call('text_diff', { before: '', after });
  const { diff } = structuredOf(output) as { diff: string };
  expect(output.structured_content).toMatchObject({ added: 50_000, truncated: true });
  expect(diff.length).toBeLessThanOrEqual(200_001);
  expect(diff).toMatch(/\+line \d+\n$/);
  expect(textOf(output)).toContain('The diff is cut here');
});

test('[BI-1] the output of text_diff turns the old text into the new one', async () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '', '+', '-', '@@ -1 +1 @@'), { maxLength: 12 }).map((lines) => lines.join('\n'));
  await fc.assert(
    fc.asyncProperty(text, text, fc.integer({ min: 0, max: 5 }), async (before, after, context_lines) => {
      fc.pre(before !== after);
      const { diff } = structuredOf(await builtins.call('text_diff', { before, after, context_lines })) as { diff: string };
      expect(applyPatch(before, diff)).toBe(after);
    }),
  );
});
