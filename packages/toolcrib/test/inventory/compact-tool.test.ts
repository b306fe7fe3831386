import { expect, test } from 'vitest';
import { compactTool } from '../../src/inventory/compact-tool.ts';
import { sampleTool } from '../fixtures/samples.ts';

test.each([
  ['the first sentence', 'Opens an issue. Anybody may.', 'Opens an issue.'],
  ['of several lines', '  Opens\n  an issue\n\nAnybody may', 'Opens an issue'],
  ['the title where there is nothing else', '', 'Open'],
  ['a long description is cut', 'x'.repeat(161), `${'x'.repeat(160)}…`],
  ['never within a character', `${'x'.repeat(159)}🙂`, `${'x'.repeat(159)}…`],
  ['a point within a word ends no sentence', 'Reads package.json files', 'Reads package.json files'],
])('[BFF-1] a compact tool has a one-line description: %s', (_why, text, line) => {
  expect(compactTool(sampleTool({ title: 'Open', text })).description).toBe(line);
});

test.each([
  [{ type: 'object', properties: { owner: {}, repo: {} } }, ['owner', 'repo']],
  [{ type: 'object' }, []],
  [{ type: 'object', properties: [] }, []],
  [{ type: 'object', properties: null }, []],
])('[BFF-1] a compact tool names its parameters: %j', (schema, parameters) => {
  expect(compactTool(sampleTool({ schema })).parameters).toEqual(parameters);
});
