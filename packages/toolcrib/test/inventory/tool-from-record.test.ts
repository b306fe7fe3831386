import { describe, expect, test } from 'vitest';
import { sampleTool } from '../fixtures/samples.ts';

test('[NAME-1] [NAME-3] a tool has its names from its namespace and its own name', () => {
  expect(sampleTool({ namespace: 'github', name: 'get_repo' })).toMatchObject({ name: 'github:get_repo', model_name: 'github_get_repo' });
});

test('what an administrator wrote stands in place of what the source says, and the definition stays as found', () => {
  const tool = sampleTool({ text: 'found', description: 'written', labels: { team: 'ops' }, limits: { concurrency: 2 } });
  expect(tool).toMatchObject({ description: 'written', labels: { team: 'ops' }, limits: { concurrency: 2 } });
  expect(tool.definition.description).toBe('found');
  expect(tool.definition_hash).toBe(sampleTool({ text: 'found' }).definition_hash);
});

test('what nobody said is null or empty', () => {
  expect(sampleTool()).toMatchObject({
    title: null,
    method: null,
    path: null,
    version: null,
    labels: {},
    limits: {},
    tags: [],
    description: '',
  });
});

test.each([
  ['active', false, 'active'],
  ['active', true, 'hidden'],
  ['quarantined', true, 'quarantined'],
  ['deprecated', true, 'deprecated'],
] as const)('a tool found %s, hidden: %s, is %s', (state, hidden, expected) => {
  expect(sampleTool({ state, hidden }).state).toBe(expected);
});

describe('the fingerprint', () => {
  const before = sampleTool().fingerprint;

  test('is the same for the same content', () => {
    expect(sampleTool().fingerprint).toBe(before);
  });

  test.each([
    ['description', { description: 'new' }],
    ['schema', { schema: { type: 'object', required: ['a'] } }],
    ['tags', { tags: ['a'] }],
    ['state', { hidden: true }],
    ['namespace', { namespace: 'other', sourceId: 'source-files' }],
    ['title', { title: 'Read' }],
  ])('changes with the %s', (_what, change) => {
    expect(sampleTool(change).fingerprint).not.toBe(before);
  });

  test.each([
    ['labels', { labels: { risk: 'low' } }],
    ['limits', { limits: { concurrency: 1 } }],
  ])('does not change with the %s, which no list shows', (_what, change) => {
    expect(sampleTool(change).fingerprint).toBe(before);
  });
});
