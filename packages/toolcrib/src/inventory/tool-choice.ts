import type { McpDefinition } from '../model/mcp-definition.ts';
import type { DiscoveredTool } from '../model/tool.ts';
import { compilePattern } from '../policy/pattern.ts';

/** [INV-5] Which of its tools a source gives us: all, or those that some glob includes, without those that some glob excludes. */
export function toolChoice(choice: McpDefinition['tools'] | undefined): (tool: DiscoveredTool) => boolean {
  const includes = (choice?.include ?? []).map(compilePattern);
  const excludes = (choice?.exclude ?? []).map(compilePattern);
  return ({ definition: { name } }) =>
    (includes.length === 0 || includes.some((matches) => matches(name))) && !excludes.some((matches) => matches(name));
}
