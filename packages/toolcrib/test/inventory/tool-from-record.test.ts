import { describe, expect, test } from 'vitest';
import { toolFromRecord } from '../../src/inventory/tool-from-record.ts';
import { openApiDefinitionSchema } from '../../src/sources/openapi/openapi-definition.ts';
import { pollProfileSchema } from '../../src/model/poll-profile.ts';
import { sampleTool } from '../fixtures/samples.ts';
import { operationAt } from '../sources/openapi/poll/following.ts';

test('[NAME-1] [NAME-3] a tool has its names from its namespace and its own name', () => {
  expect(sampleTool({ namespace: 'github', name: 'get_repo' })).toMatchObject({ name: 'github:get_repo', model_name: 'github_get_repo' });
});

test('overrides of an administrator are shown in place of the source’s text, and the definition stays as found', () => {
  const tool = sampleTool({ text: 'found', description: 'written', labels: { team: 'ops' }, limits: { concurrency: 2 } });
  expect(tool).toMatchObject({ description: 'written', labels: { team: 'ops' }, limits: { concurrency: 2 } });
  expect(tool.definition.description).toBe('found');
  expect(tool.definition_hash).toBe(sampleTool({ text: 'found' }).definition_hash);
});

test('[MCP-7] a title in the annotations counts if there is no other, and pinned definitions stay unchanged', () => {
  const annotated = sampleTool({ annotations: { title: 'Close an issue' } });
  expect(annotated).toMatchObject({ title: 'Close an issue', definition: { annotations: { title: 'Close an issue' } } });
  expect(annotated.definition.title).toBeUndefined();
  expect(sampleTool({ annotations: { title: 7 } }).title).toBeNull();
});

test('fields that are not given are null or empty', () => {
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

test('[POLL-1] a polled tool has the time of all its pauses and one request', () => {
  const { definition, definition_hash, approved_hash } = sampleTool();
  const source = {
    id: 's',
    name: 'Shop',
    namespace: 'shop',
    source_type: 'openapi',
    enabled: true,
    managed_by: null,
    definition: openApiDefinitionSchema.parse({ document: { file: '/shop.json' }, resilience: { requestTimeoutMs: 1000 } }),
    created_at: 0,
    updated_at: 0,
  } as const;
  const timeoutWith = (poll: object | null) => {
    const operation = operationAt('http://shop', { poll: poll && pollProfileSchema.parse(poll) });
    const discovered = { definition, tags: [], execution_mode: 'sync_http' as const, operation };
    const stored = {
      state: 'active',
      approved: null,
      overrides: {},
      created_at: 0,
      updated_at: 0,
      definition_hash,
      approved_hash,
    } as const;
    return toolFromRecord({ tool_id: 't', source_id: 's', discovered, ...stored }, source).timeout_ms;
  };
  expect(timeoutWith(null)).toBe(1000);
  expect(timeoutWith({ interval_ms: 100, backoff: 2, max_interval_ms: 300, max_attempts: 4 })).toBe(1000 + 100 + 200 + 300 + 300);
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
