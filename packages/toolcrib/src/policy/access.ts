import { hash } from 'node:crypto';
import type { Policy } from '../model/policy.ts';
import type { Principal } from '../model/principal.ts';
import type { Tool } from '../model/tool.ts';
import type { Rules } from './rules.ts';

/** [POL-3] Why a tool is allowed: the ids of the policies that grant it, separated by spaces. */
interface Permission {
  readonly tool: Tool;
  readonly policies: string;
}

/** Exactly what one caller may list and call. Callers with the same grants share one object. */
export interface Access {
  /** The one decision: list, call and stream all read this map. */
  readonly permissions: ReadonlyMap<string, Permission>;
  /** The same tools in the order they are listed. */
  readonly tools: readonly Tool[];
  /** Changes when anything this caller's list shows changes. */
  readonly fingerprint: string;
  readonly revision: number;
}

export interface AccessBook {
  accessOf(principal: Principal): Access;
}

/** How many different sets of grants are cached: each holds a list of tools, and there may be as many as there are callers. */
const maxRemembered = 1000;

/** Decides for one revision of rules and tools. A change makes a new book, so nothing here is ever stale. */
export function createAccessBook({ rules, tools }: { rules: Rules; tools: readonly Tool[] }): AccessBook {
  const active = tools.filter((tool) => tool.state === 'active');
  const members = new Map<string, readonly Tool[]>();
  const byGrants = new Map<readonly Policy[], Access>();
  const byPrincipal = new WeakMap<Principal, Access>();

  function membersOf(groupId: string): readonly Tool[] {
    let found = members.get(groupId);
    if (found === undefined) {
      const belongs = rules.groups.get(groupId);
      found = belongs === undefined ? [] : active.filter(belongs);
      members.set(groupId, found);
    }
    return found;
  }

  function accessByGrants(granted: readonly Policy[]): Access {
    const policiesByTool = new Map<Tool, Set<string>>();
    for (const policy of granted) {
      for (const tool of policy.groups.flatMap(membersOf)) {
        const policies = policiesByTool.get(tool) ?? new Set();
        policiesByTool.set(tool, policies.add(policy.id));
      }
    }
    const allowed = active.filter((tool) => policiesByTool.has(tool));
    const permissions = new Map(allowed.map((tool) => [tool.tool_id, { tool, policies: [...(policiesByTool.get(tool) ?? [])].join(' ') }]));
    const fingerprint = hash('sha256', allowed.map((tool) => tool.fingerprint).join('\n'), 'base64url').slice(0, 22);
    return { permissions, tools: allowed, fingerprint, revision: rules.revision };
  }

  return {
    accessOf(principal) {
      let access = byPrincipal.get(principal);
      if (access === undefined) {
        const granted = rules.granted(principal.claims);
        access = byGrants.get(granted) ?? accessByGrants(granted);
        if (byGrants.size >= maxRemembered) byGrants.clear();
        byGrants.set(granted, access);
        byPrincipal.set(principal, access);
      }
      return access;
    },
  };
}
