import type { Inventory } from '../inventory/inventory.ts';
import type { Principal } from '../model/principal.ts';
import type { Tool } from '../model/tool.ts';
import { createDoorTools, toolEntry, type DoorTools } from './door-tools.ts';
import { estimatedTokens } from './estimated-tokens.ts';
import { findingToolDefinitions } from './finding-tools.ts';

interface ToolWeight {
  name: string;
  tokens: number;
}

/** [DOOR-6] What one address costs the model that is given its list. */
export interface AddressWeight {
  /** Undefined for all tools of the caller. */
  group: string | undefined;
  /** Heaviest first. */
  tools: readonly ToolWeight[];
  tokens: number;
}

/** Models are given these three; the rest of an entry is for clients. */
function tokensOf(name: string, tool: Tool): number {
  const { description, inputSchema } = toolEntry(name, tool, true);
  return estimatedTokens(JSON.stringify({ name, description, inputSchema }));
}

export const tokensInSearchMode = estimatedTokens(
  JSON.stringify(findingToolDefinitions.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))),
);

/** The addresses of a caller: the one with all their tools, and each group that gives them some. What was weighed once is remembered with its list. */
export function createAddressWeights(inventory: Pick<Inventory, 'accessOf' | 'rules'>): (principal: Principal) => AddressWeight[] {
  const doorTools = createDoorTools(inventory);
  const kept = new WeakMap<DoorTools, readonly ToolWeight[]>();

  function weigh(principal: Principal, group: string | undefined): AddressWeight {
    const listed = doorTools(principal, { group, mode: 'list', names: 'prefixed' });
    let tools = kept.get(listed);
    if (tools === undefined) {
      tools = listed.tools
        .map((tool) => ({ name: listed.nameOf(tool), tokens: tokensOf(listed.nameOf(tool), tool) }))
        .toSorted((a, b) => b.tokens - a.tokens);
      kept.set(listed, tools);
    }
    return { group, tools, tokens: tools.reduce((sum, { tokens }) => sum + tokens, 0) };
  }

  return (principal) => {
    const granted = inventory.rules.granted(principal.claims).flatMap(({ groups }) => groups);
    const groups = [...new Set(granted)].toSorted().map((group) => weigh(principal, group));
    return [weigh(principal, undefined), ...groups.filter(({ tools }) => tools.length > 0)];
  };
}
