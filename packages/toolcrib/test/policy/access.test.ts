import { expect, test } from 'vitest';
import type { Group, Policy } from '../../src/model/policy.ts';
import type { Tool } from '../../src/model/tool.ts';
import { createAccessBook, type AccessBook } from '../../src/policy/access.ts';
import { compileRules } from '../../src/policy/rules.ts';
import { sampleGroup, samplePolicy, samplePrincipal, sampleTool } from '../fixtures/samples.ts';

const read = sampleTool({ name: 'read_file' });
const write = sampleTool({ name: 'write_file' });
const readers = sampleGroup({ id: 'readers', selectors: [{ name: 'read_*' }] });
const writers = sampleGroup({ id: 'writers', selectors: [{ name: '*_file' }] });

function bookOf(policies: Policy[], groups: Group[], tools: Tool[] = [read, write]): AccessBook {
  return createAccessBook({ rules: compileRules({ policies, groups, revision: 3, warn: expect.unreachable }), tools });
}

test('[POL-3] a permission names every policy that gives it, once, in the order of the policies', () => {
  const policies = [
    samplePolicy({ id: 'first', groups: ['readers', 'writers'] }),
    samplePolicy({ id: 'second', groups: ['writers'] }),
    samplePolicy({ id: 'never', groups: ['writers'], enabled: false }),
  ];
  const { permissions, tools, revision } = bookOf(policies, [readers, writers]).accessOf(samplePrincipal({ sub: 'alice' }));
  expect(tools.map(({ tool_id }) => permissions.get(tool_id))).toEqual([
    { tool: read, policies: 'first second' },
    { tool: write, policies: 'first second' },
  ]);
  expect(revision).toBe(3);
});

test('[POL-1] a caller without a matching policy has no tools', () => {
  const access = bookOf([samplePolicy({ groups: ['readers'] })], [readers]).accessOf(samplePrincipal());
  expect(access.tools).toEqual([]);
  expect([read, write].map(({ tool_id }) => access.permissions.has(tool_id))).toEqual([false, false]);
});

test('[POL-1] a group that does not exist grants nothing', () => {
  expect(bookOf([samplePolicy({ groups: ['gone', 'readers'] })], [readers]).accessOf(samplePrincipal({ sub: 'a' })).tools).toEqual([read]);
});

test.each(['pending', 'quarantined', 'deprecated'] as const)('[POL-3] a tool that is %s is offered to nobody', (state) => {
  const tool = sampleTool({ state });
  expect(bookOf([samplePolicy({ groups: ['readers'] })], [readers], [tool]).accessOf(samplePrincipal({ sub: 'a' })).tools).toEqual([]);
});

test('[POL-3] a hidden tool is offered to nobody', () => {
  const tool = sampleTool({ hidden: true });
  expect(tool.state).toBe('hidden');
  expect(bookOf([samplePolicy({ groups: ['readers'] })], [readers], [tool]).accessOf(samplePrincipal({ sub: 'a' })).tools).toEqual([]);
});

test('callers with the same grants share one object, and so one list', () => {
  const book = bookOf([samplePolicy({ groups: ['readers'] })], [readers]);
  const alice = samplePrincipal({ sub: 'alice', jti: '1' });
  expect(book.accessOf(samplePrincipal({ sub: 'bob', jti: '2' }))).toBe(book.accessOf(alice));
  expect(book.accessOf(alice)).toBe(book.accessOf(alice));
});

test('the fingerprint changes with what the list shows, and with nothing else', () => {
  const policies = [samplePolicy({ groups: ['readers'] })];
  const caller = samplePrincipal({ sub: 'alice' });
  const before = bookOf(policies, [readers]).accessOf(caller).fingerprint;
  const renamed = [samplePolicy({ id: 'other', groups: ['readers'] })];
  expect(bookOf(renamed, [readers]).accessOf(caller).fingerprint).toBe(before);
  const withInvisible = [read, write, sampleTool({ name: 'delete_file' })];
  expect(bookOf(policies, [readers], withInvisible).accessOf(caller).fingerprint).toBe(before);
  const described = [sampleTool({ name: 'read_file', description: 'New words' }), write];
  expect(bookOf(policies, [readers], described).accessOf(caller).fingerprint).not.toBe(before);
  expect(bookOf([samplePolicy({ groups: ['writers'] })], [writers]).accessOf(caller).fingerprint).not.toBe(before);
});

test('decisions stay right with more sets of grants than are cached', () => {
  const policies = Array.from({ length: 11 }, (_, bit) =>
    samplePolicy({ id: `p${bit}`, matchers: [{ path: 'bits', operator: 'contains', value: bit }], groups: [`g${bit}`] }),
  );
  const tools = Array.from({ length: 11 }, (_, bit) => sampleTool({ name: `tool_${String(bit).padStart(2, '0')}` }));
  const groups = tools.map((tool, bit) => sampleGroup({ id: `g${bit}`, include: [tool.tool_id] }));
  const book = bookOf(policies, groups, tools);
  for (let mask = 0; mask < 2 ** 11; mask++) {
    const bits = tools.map((_, bit) => bit).filter((bit) => mask & (1 << bit));
    expect(book.accessOf(samplePrincipal({ bits })).tools).toEqual(bits.map((bit) => tools[bit]));
  }
});
