import { expect, test } from 'vitest';
import { importReportSchema } from '../../../src/model/import-report.ts';
import { importSchema } from '../../../src/sources/graphql/import-schema.ts';
import { isolated } from '../../fixtures/isolated.ts';
import { readRealSchema, realSchemas } from './real-schemas.ts';

const imported = (text: string, more: Partial<Parameters<typeof importSchema>[0]> = {}) =>
  importSchema({ text, endpoint: 'https://api.example/graphql', limits: { depth: 2, fields: 50 }, tools: true, ...isolated, ...more });

test('a schema becomes tools and a report, in a process of its own', async () => {
  const text = 'type Query { pet: Pet } type Pet { id: ID } type Subscription { pets: Pet }';
  const { tools, report, types } = await imported(text);
  expect(tools.map(({ definition }) => definition.name)).toEqual(['pet']);
  expect(importReportSchema.parse(report)).toEqual({
    format: 'GraphQL SDL',
    operations: 2,
    tools: 1,
    skipped: [{ operation: 'subscription pets', reason: expect.any(String) }],
    warnings: [],
    bytes: text.length,
    tokens: expect.any(Number),
    advice: null,
    servers: ['https://api.example/graphql'],
    security: [],
    external_refs: [],
  });
  expect(types).toEqual({ Query: { fields: { pet: 'Pet' } }, Pet: { fields: { id: '' } }, Subscription: { fields: { pets: 'Pet' } } });
});

test("GitHub's whole schema passes, and its types alone can be had", async () => {
  const text = readRealSchema(realSchemas['GitHub as SDL']);
  const [whole, typesOnly] = await Promise.all([imported(text), imported(text, { tools: false })]);
  expect(whole.tools.length).toBeGreaterThan(270);
  expect(whole.report?.advice).toContain('tools.include');
  expect(typesOnly).toEqual({ tools: [], report: null, types: whole.types });
});

test.each([
  ['types nested in each other without end', `type Query { a: ${'['.repeat(200_000)}Int${']'.repeat(200_000)} }`, 'too deeply nested'],
  ['a default nested without end', `type Query { a(x: Int = ${'['.repeat(200_000)}`, 'too deeply nested'],
  ['JSON nested without end', `{"data": ${'['.repeat(500_000)}${']'.repeat(500_000)}}`, 'too deeply nested|no __schema'],
  ['a syntax error', 'type Query { a }', 'line 1, column 16'],
])('%s is refused', async (_what, text, words) => {
  await expect(imported(text)).rejects.toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringMatching(words) });
});

test('a schema that takes too much memory or time is given up', async () => {
  const hungry = `{"data":{"__schema":{"types":[${'{"34":0},'.repeat(2_000_000)}{}]}}}`;
  await expect(imported(hungry, { memoryLimitMb: 32 })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: 'The document takes more than 32 MB of memory to read; give a smaller one',
  });
  await expect(imported('type Query { a: Int }', { timeLimitMs: 1 })).rejects.toMatchObject({
    message: expect.stringContaining('seconds'),
  });
});

test('thirty thousand fields are cut at what a source may have', async () => {
  const fields = Array.from({ length: 30_100 }, (_, index) => `f${index}: Int`).join(' ');
  const { tools, report } = await imported(`type Query { ${fields} }`);
  expect(tools).toHaveLength(20_000);
  expect(report?.skipped.at(-1)).toEqual({ operation: '100 more', reason: 'Too many to list' });
}, 30_000);
