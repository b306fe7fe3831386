import type { Inventory } from '../inventory/inventory.ts';
import type { Principal } from '../model/principal.ts';
import type { Tool } from '../model/tool.ts';
import type { Access } from '../policy/access.ts';
import { explainPolicies } from '../policy/explain.ts';

type AccessExplanation = ReturnType<ReturnType<typeof createExplainAccess>>;

/** Explains why a caller may or may not use a tool; without a tool, lists all they may use. */
export type ExplainAccess = (principal: Principal, toolName: string | undefined) => AccessExplanation;

/** [POL-3] Uses the function that decides calls, and adds its reasons. */
export function createExplainAccess({ inventory }: { inventory: Inventory }) {
  return (principal: Principal, toolName: string | undefined) => {
    const tool = toolName === undefined ? undefined : inventory.find(toolName);
    const access = inventory.accessOf(principal);
    return {
      revision: inventory.rules.revision,
      policies: explainPolicies(inventory.rules, principal.claims, tool),
      decision: toolName === undefined ? null : decide(access, toolName, tool),
      tools: access.tools.map(({ name }) => name),
    };
  };
}

function decide({ permissions }: Access, asked: string, tool: Tool | undefined) {
  if (tool === undefined) return { tool: asked, allowed: false, reason: 'there is no such tool' };
  const permission = permissions.get(tool.tool_id);
  if (permission !== undefined) {
    return { tool: tool.name, allowed: true, reason: `granted by ${permission.policies.replaceAll(' ', ', ')}` };
  }
  return { tool: tool.name, allowed: false, reason: tool.state === 'active' ? 'no policy grants it' : `the tool is ${tool.state}` };
}
