import type { Group, Selector } from '../model/policy.ts';
import type { Tool } from '../model/tool.ts';
import { compilePattern } from './pattern.ts';

export type ToolTest = (tool: Tool) => boolean;

/** [POL-4] Whether a tool is in a group: any selector chooses it or it is included by id, and nothing excludes it. Throws on a bad expression. */
export function compileGroup(group: Pick<Group, 'selectors' | 'include' | 'exclude'>): ToolTest {
  const selectors = group.selectors.map(compileSelector);
  const included = new Set(group.include);
  const excluded = new Set(group.exclude);
  return (tool) => (selectors.some((selects) => selects(tool)) || included.has(tool.tool_id)) && !excluded.has(tool.tool_id);
}

function compileSelector(selector: Selector): ToolTest {
  const tests: ToolTest[] = [];
  if (selector.source !== undefined) {
    const { source } = selector;
    const matches = compilePattern(source);
    // An id must match as a whole: `d*` is about namespaces, and must not match every id that happens to begin with a d.
    tests.push((tool) => tool.source_id === source || matches(tool.namespace));
  }
  if (selector.name !== undefined) {
    const matches = compilePattern(selector.name);
    tests.push((tool) => matches(tool.definition.name));
  }
  if (selector.path !== undefined) {
    const matches = compilePattern(selector.path);
    tests.push((tool) => tool.path !== null && matches(tool.path));
  }
  if (selector.method !== undefined) {
    const matches = compilePattern(selector.method);
    tests.push((tool) => tool.method !== null && matches(tool.method));
  }
  for (const tag of selector.tags ?? []) {
    const matches = compilePattern(tag);
    tests.push((tool) => tool.tags.some(matches));
  }
  for (const [label, pattern] of Object.entries(selector.labels ?? {})) {
    const matches = compilePattern(pattern);
    tests.push((tool) => Object.hasOwn(tool.labels, label) && matches(tool.labels[label] ?? ''));
  }
  // A selector without conditions (such as an empty list of labels) chooses nothing, just as a policy without matchers grants nothing.
  return (tool) => tests.length > 0 && tests.every((test) => test(tool));
}
