import { describe, expect, test } from 'vitest';
import { createSnapshot } from '../../src/inventory/snapshot.ts';
import { toolId } from '../../src/inventory/tool-id.ts';
import { sampleTool } from '../fixtures/samples.ts';

const read = sampleTool({ namespace: 'files', name: 'read' });
const odd = sampleTool({ namespace: 'files', name: 'a.b:c' });
const twin = sampleTool({ namespace: 'files-2', name: 'read' });
const snapshot = createSnapshot([twin, read, odd]);

describe('a tool', () => {
  test.each([
    ['its id', read.tool_id, read],
    ['its canonical name', 'files:read', read],
    ['its dotted name', 'files.read', read],
    ['a canonical name with separators in the tool’s own name', 'files:a.b:c', odd],
    ['a dotted name with separators in the tool’s own name', 'files.a.b:c', odd],
    ['the name of a twin in another source', 'files-2:read', twin],
  ])('[NAME-1] is found by %s', (_form, reference, tool) => {
    expect(snapshot.find(reference)).toBe(tool);
  });

  test.each([
    '',
    'read',
    'files',
    'files:',
    'files:rea',
    'files/read',
    'Files:read',
    'files::read',
    'files_read',
    '__proto__',
    'constructor',
  ])('[NAME-4] is never found by %j', (reference) => {
    expect(snapshot.find(reference)).toBeUndefined();
  });

  test('[NAME-4] that is named like the id of another is found only by its own names', () => {
    const impostor = sampleTool({ namespace: 'evil', name: read.tool_id });
    const both = createSnapshot([impostor, read]);
    expect(both.find(read.tool_id)).toBe(read);
    expect(both.find(`evil:${read.tool_id}`)).toBe(impostor);
  });
});

test('tools are in the order of their names, however they came', () => {
  expect(snapshot.tools.map(({ name }) => name)).toEqual(['files-2:read', 'files:a.b:c', 'files:read']);
  expect(createSnapshot([odd, read, twin]).tools).toEqual(snapshot.tools);
});

test('[NAME-3] adding a source renames no tool', () => {
  const added = sampleTool({ namespace: 'file', name: 's_read' });
  const after = createSnapshot([added, twin, read, odd]);
  for (const tool of snapshot.tools) expect(after.find(tool.tool_id)?.model_name).toBe(tool.model_name);
  expect(new Set(after.tools.map((tool) => tool.model_name.toLowerCase())).size).toBe(4);
});

test('an id is opaque and stable, and unique for every source and name', () => {
  expect(toolId('source', 'read')).toBe(toolId('source', 'read'));
  expect(toolId('source', 'read')).toMatch(/^tool_[0-9a-f]{24}$/);
  const ids = [toolId('a', 'b'), toolId('b', 'a'), toolId('a', 'B'), toolId('ab', ''), toolId('', 'ab')];
  expect(new Set(ids).size).toBe(ids.length);
});
