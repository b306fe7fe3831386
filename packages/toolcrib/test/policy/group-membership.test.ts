import { describe, expect, test } from 'vitest';
import { selectorSchema, type Selector } from '../../src/model/policy.ts';
import { compileGroup } from '../../src/policy/group-membership.ts';
import { sampleGroup, sampleTool } from '../fixtures/samples.ts';

const tools = {
  issue: sampleTool({
    namespace: 'github',
    sourceId: '1f0c8c7e-7d0a-4b6e-9a53-0d4f6f3c9e01',
    name: 'create_issue',
    tags: ['issues', 'write'],
    method: 'POST',
    path: '/repos/{owner}/issues',
    labels: { risk: 'high', team: 'dev' },
  }),
  repo: sampleTool({
    namespace: 'github',
    sourceId: '1f0c8c7e-7d0a-4b6e-9a53-0d4f6f3c9e01',
    name: 'get_repo',
    tags: ['repos', 'read'],
    method: 'GET',
    path: '/repos/{owner}',
  }),
  mirror: sampleTool({ namespace: 'github-mirror', sourceId: 'd3b2a6c4-0000-4000-8000-000000000002', name: 'get_repo', tags: ['read'] }),
  read: sampleTool({ namespace: 'files', sourceId: 'a77e0f10-0000-4000-8000-000000000003', name: 'read_file' }),
  odd: sampleTool({ namespace: 'files', sourceId: 'a77e0f10-0000-4000-8000-000000000003', name: 'a.b:c' }),
};
type ToolName = keyof typeof tools;

function membersOf(group: Parameters<typeof compileGroup>[0]): ToolName[] {
  const belongs = compileGroup(group);
  return (Object.keys(tools) as ToolName[]).filter((name) => belongs(tools[name]));
}

describe('[POL-4] a selector', () => {
  test.each<[string, Selector, ToolName[]]>([
    ['chooses a source by its namespace', { source: 'github' }, ['issue', 'repo']],
    ['chooses a source by its id', { source: tools.issue.source_id }, ['issue', 'repo']],
    ['chooses sources by a glob over namespaces', { source: 'github*' }, ['issue', 'repo', 'mirror']],
    ['takes a glob to mean namespaces, never the beginning of an id', { source: 'd*' }, []],
    ['takes an expression to mean namespaces, never ids', { source: { regex: '[a-f0-9-]+' } }, []],
    ['chooses every tool with a lone star', { source: '*' }, ['issue', 'repo', 'mirror', 'read', 'odd']],
    ['chooses by the name within the source', { name: 'get_repo' }, ['repo', 'mirror']],
    ['does not see the namespace in the name', { name: 'github*' }, []],
    ['chooses names by a glob', { name: '*_file' }, ['read']],
    ['chooses names by an expression over the whole name', { name: { regex: '(get|read)_.*' } }, ['repo', 'mirror', 'read']],
    ['does not take a part of the name', { name: { regex: 'get' } }, []],
    ['chooses by path, and leaves out tools without one', { path: '/repos/*' }, ['issue', 'repo']],
    ['takes a star for a path as any path, but not none', { path: '*' }, ['issue', 'repo']],
    ['chooses by method', { method: 'GET' }, ['repo']],
    ['minds the case of a method', { method: 'get' }, []],
    ['wants each of its tags', { tags: ['read'] }, ['repo', 'mirror']],
    ['wants all of its tags', { tags: ['repos', 're*d'] }, ['repo']],
    ['wants a tag where a star stands for it', { tags: ['*'] }, ['issue', 'repo', 'mirror']],
    ['chooses by label', { labels: { risk: 'high' } }, ['issue']],
    ['wants all of its labels', { labels: { risk: 'high', team: 'ops' } }, []],
    ['wants a label where a star stands for its value', { labels: { team: '*' } }, ['issue']],
    ['never takes what every object inherits for a label', { labels: { constructor: '*', toString: '*' } }, []],
    ['joins its conditions with AND', { source: 'github', tags: ['read'], method: 'GET' }, ['repo']],
    ['chooses nothing when one condition fails', { source: 'github', tags: ['read'], method: 'POST' }, []],
    ['without any condition chooses nothing', { labels: {} }, []],
    ['that is empty chooses nothing', {}, []],
  ])('%s', (_what, selector, expected) => {
    expect(membersOf(sampleGroup({ selectors: [selector] }))).toEqual(expected);
  });

  test.each<[string, unknown]>([
    ['an empty selector', {}],
    ['an unknown condition', { sources: '*' }],
    ['an empty glob', { name: '' }],
    ['no tags', { tags: [] }],
    ['an expression with a spelling mistake', { name: { regexp: 'a' } }],
  ])('is refused if it is %s', (_what, selector) => {
    expect(selectorSchema.safeParse(selector).success).toBe(false);
  });
});

describe('[POL-4] a group', () => {
  test('without selectors and tools is empty', () => {
    expect(membersOf(sampleGroup())).toEqual([]);
  });

  test('joins its selectors with OR', () => {
    expect(membersOf(sampleGroup({ selectors: [{ method: 'POST' }, { name: 'read_file' }] }))).toEqual(['issue', 'read']);
  });

  test('adds included tools to the selected ones, then removes excluded ones, whatever selected them', () => {
    const group = {
      selectors: [{ source: 'github' }],
      include: [tools.read.tool_id, tools.odd.tool_id],
      exclude: [tools.repo.tool_id, tools.odd.tool_id],
    };
    expect(membersOf(sampleGroup(group))).toEqual(['issue', 'read']);
  });

  test.each([
    'github',
    'github:',
    'github:*',
    'github:get',
    'github:get_repo',
    'github.get_repo',
    'get_repo',
    '*',
    'GITHUB:get_repo',
    tools.repo.source_id,
    tools.repo.model_name,
  ])('[NAME-4] does not take %s for the name of a tool', (reference) => {
    expect(membersOf(sampleGroup({ include: [reference] }))).toEqual([]);
    expect(membersOf(sampleGroup({ selectors: [{ name: 'get_repo' }], exclude: [reference] }))).toEqual(['repo', 'mirror']);
  });

  test('[NAME-4] never confuses a namespace with another that begins like it', () => {
    expect(membersOf(sampleGroup({ selectors: [{ source: 'github' }] }))).not.toContain('mirror');
  });

  test('with an expression that does not compile is refused', () => {
    expect(() => compileGroup(sampleGroup({ selectors: [{ name: { regex: '(' } }] }))).toThrow('missing closing )');
  });
});
