import { describe, expect, test } from 'vitest';
import { definitionHash } from '../../src/inventory/definition-hash.ts';
import { approve, isWaiting, pin } from '../../src/inventory/pinning.ts';
import type { Pinning } from '../../src/model/source-definition.ts';
import type { DiscoveredTool, ToolRecord } from '../../src/model/tool.ts';

const found = (description: string): DiscoveredTool => ({
  definition: { name: 'read', description, input_schema: { type: 'object' } },
  tags: [],
  execution_mode: 'mcp_call',
});
const hashOf = (description: string) => definitionHash(found(description).definition);

/** A stored tool: the last description found, the approved one, and the resulting state. */
function record(last: string, approvedText: string | null, state: ToolRecord['state']): ToolRecord {
  return {
    tool_id: 'tool_1',
    source_id: 'source',
    discovered: found(last),
    definition_hash: hashOf(last),
    state,
    approved_hash: approvedText === null ? null : hashOf(approvedText),
    approved: approvedText === null || approvedText === last ? null : found(approvedText).definition,
    overrides: {},
    created_at: 0,
    updated_at: 0,
  };
}

const nothing = undefined;
const old = record('old', 'old', 'active');
const pending = record('old', null, 'pending');
const quarantined = record('new', 'old', 'quarantined');
const gone = record('old', 'old', 'deprecated');
const goneUnseen = record('old', null, 'deprecated');
const goneChanged = record('new', 'old', 'deprecated');

describe('[INV-3] a discovered definition', () => {
  test.each<[string, Pinning, ToolRecord | undefined, string, ToolRecord['state'], string | null]>([
    ['new, nothing pinned', 'off', nothing, 'old', 'active', 'old'],
    ['changed, nothing pinned', 'off', old, 'new', 'active', 'new'],
    ['quarantined before, nothing pinned any more', 'off', quarantined, 'new', 'active', 'new'],
    ['pending before, nothing pinned any more', 'off', pending, 'old', 'active', 'old'],

    ['new, with a warning', 'warn', nothing, 'old', 'active', 'old'],
    ['unchanged, with a warning', 'warn', old, 'old', 'active', 'old'],
    ['changed, with a warning', 'warn', old, 'new', 'active', 'old'],
    ['quarantined before, now with a warning', 'warn', quarantined, 'new', 'active', 'old'],
    ['pending before, now with a warning', 'warn', pending, 'old', 'active', null],

    ['new', 'quarantine', nothing, 'old', 'pending', null],
    ['still pending', 'quarantine', pending, 'old', 'pending', null],
    ['changed while pending', 'quarantine', pending, 'new', 'pending', null],
    ['unchanged', 'quarantine', old, 'old', 'active', 'old'],
    ['changed', 'quarantine', old, 'new', 'quarantined', 'old'],
    ['changed again', 'quarantine', quarantined, 'newer', 'quarantined', 'old'],
    ['back at what was approved', 'quarantine', quarantined, 'old', 'active', 'old'],
    ['back after it had vanished', 'quarantine', gone, 'old', 'active', 'old'],
    ['back with another definition', 'quarantine', gone, 'new', 'quarantined', 'old'],
    ['back without ever having been approved', 'quarantine', goneUnseen, 'old', 'pending', null],
    ['back at what was approved before it changed and vanished', 'quarantine', goneChanged, 'old', 'active', 'old'],
  ])('gets the right state when it is %s (%s)', (_what, pinning, before, text, state, approvedText) => {
    const after = pin(found(text), before, pinning);
    const waits = approvedText !== text;
    expect(after).toEqual({
      discovered: found(text),
      definition_hash: hashOf(text),
      state,
      approved_hash: approvedText === null ? null : hashOf(approvedText),
      approved: waits && approvedText !== null ? found(approvedText).definition : null,
    });
    expect(isWaiting(after)).toBe(waits);
  });
});

test.each([
  ['pending', pending, 'active'],
  ['quarantined', quarantined, 'active'],
  ['already approved', old, 'active'],
  ['gone', goneChanged, 'deprecated'],
] as const)('[INV-3] a definition that was %s is approved as it was found', (_what, before, state) => {
  expect(approve(before, 5)).toMatchObject({ state, approved_hash: before.definition_hash, approved: null, updated_at: 5 });
});
