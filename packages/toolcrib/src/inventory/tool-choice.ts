import type { ToolChoice } from '../model/tool-choice.ts';
import type { DiscoveredTool } from '../model/tool.ts';
import { compilePattern } from '../policy/pattern.ts';

type Matches = (tool: DiscoveredTool) => boolean;

/** [INV-5] The tools of a source that are used: all or the included ones, without the excluded ones. */
export function toolChoice(choice: ToolChoice | undefined): Matches {
  const includes = (choice?.include ?? []).map(compileChoice);
  const excludes = (choice?.exclude ?? []).map(compileChoice);
  return (tool) => (includes.length === 0 || includes.some((matches) => matches(tool))) && !excludes.some((matches) => matches(tool));
}

function compileChoice(choice: ToolChoice['include'][number]): Matches {
  if (typeof choice === 'string') return byName(choice);
  const conditions: Matches[] = [];
  const { name, tags, paths, methods } = choice;
  if (name !== undefined) conditions.push(byName(name));
  if (tags !== undefined) {
    const matchesTag = anyOf(tags);
    conditions.push((tool) => tool.tags.some(matchesTag));
  }
  if (paths !== undefined) {
    const matchesPath = anyOf(paths);
    conditions.push(({ path }) => path !== undefined && matchesPath(path));
  }
  if (methods !== undefined) {
    const matchesMethod = anyOf(methods.map((method) => method.toUpperCase()));
    conditions.push(({ method }) => method !== undefined && matchesMethod(method.toUpperCase()));
  }
  return (tool) => conditions.every((matches) => matches(tool));
}

function byName(glob: string): Matches {
  const matches = compilePattern(glob);
  return ({ definition: { name } }) => matches(name);
}

function anyOf(globs: readonly string[]): (text: string) => boolean {
  const patterns = globs.map(compilePattern);
  return (text) => patterns.some((matches) => matches(text));
}
