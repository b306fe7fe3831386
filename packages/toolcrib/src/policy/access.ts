import type { Principal } from '../model/principal.ts';
import { RecentMap } from '../model/recent-map.ts';
import type { Policy } from '../model/policy.ts';
import type { Tool } from '../model/tool.ts';
import { ActiveTools } from './active-tools.ts';
import { GrantSet, type Access } from './grant-set.ts';
import { GroupMembers } from './group-members.ts';
import type { Rules } from './rules.ts';

export type { Access } from './grant-set.ts';

export interface AccessBook {
  accessOf(principal: Principal): Access;
}

/** Bounds the sets of grants that are kept: each may hold a list of tools, and there may be as many as there are callers. */
const mostBytes = 64_000_000;

interface AccessBookInput {
  rules: Rules;
  tools: readonly Tool[];
  mostBytes?: number;
}

/** Decides for rules and tools that stay as they are. */
export function createAccessBook({ tools, ...input }: AccessBookInput): AccessBook {
  return createLiveAccess({ ...input, tools: new ActiveTools(tools) });
}

export interface LiveAccess extends AccessBook {
  /** Decides by these rules from now on. */
  follow(rules: Rules): void;
  /** How many sets of grants are kept. */
  readonly kept: number;
}

/**
 * Decides by rules and tools that change. Nothing is thrown away with a change: what was decided about a tool holds as long as the tool, the
 * policies and their groups are the same objects, and lists are brought up to date by what changed when they are next read.
 */
export function createLiveAccess(input: { rules: Rules; tools: ActiveTools; mostBytes?: number }): LiveAccess {
  const { tools } = input;
  let { rules } = input;
  const members = new GroupMembers(tools);
  const sets = new RecentMap<GrantSet>(
    input.mostBytes ?? mostBytes,
    ({ bytes }) => bytes,
    (set) => set.forget(),
  );
  const byGrants = new WeakMap<readonly Policy[], GrantSet>();
  const byPrincipal = new WeakMap<Principal, { rules: Rules; set: GrantSet }>();

  /** Its list was read, and weighs this much: what was read lately is kept. */
  function onRead(set: GrantSet, bytes: number): void {
    if (sets.get(set.key) === set && set.bytes === bytes) return;
    sets.delete(set.key);
    set.bytes = bytes;
    sets.set(set.key, set);
  }

  function setOf(granted: readonly Policy[]): GrantSet {
    const shared = byGrants.get(granted);
    // Looked up again all the same, since that is what keeps it from being forgotten.
    const key = shared?.key ?? granted.map(({ id }) => id).join(' ');
    let set = sets.get(key);
    if (set === undefined) {
      set = shared ?? new GrantSet({ key, tools, members, onRead });
      sets.set(key, set);
    }
    set.follow(rules, granted);
    byGrants.set(granted, set);
    return set;
  }

  return {
    accessOf(principal) {
      let found = byPrincipal.get(principal);
      // Other rules may grant this caller other policies, whatever became of the set that they had.
      if (found?.rules !== rules) {
        found = { rules, set: setOf(rules.granted(principal.claims)) };
        byPrincipal.set(principal, found);
      }
      return found.set.access;
    },
    follow(changed) {
      rules = changed;
    },
    get kept() {
      return sets.size;
    },
  };
}
