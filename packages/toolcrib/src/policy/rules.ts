import { hash } from 'node:crypto';
import type { JsonObject } from '../model/json.ts';
import type { Group, Policy } from '../model/policy.ts';
import { RecentMap } from '../model/recent-map.ts';
import { claimAt } from './claim-path.ts';
import { compileGroup, type ToolTest } from './group-membership.ts';
import { compileMatcher, type CompiledMatcher } from './matcher.ts';
import { PolicyIndex } from './policy-index.ts';

/** How many different callers' grants are remembered, at some 120 bytes each. */
const maxRemembered = 100_000;
/** Bounds the lists of policies that those callers share. */
const mostBytes = 16_000_000;

interface CompiledPolicy {
  readonly policy: Policy;
  readonly matchers: readonly CompiledMatcher[];
  /** Why it grants nothing, whatever the claims are. */
  readonly fault?: string;
}

/** Everything administrators decided, of one revision. */
export interface Rules {
  readonly revision: number;
  /** By id. */
  readonly policies: readonly CompiledPolicy[];
  readonly groups: ReadonlyMap<string, ToolTest>;
  /** The policies that grant something to these claims, by id. Callers whose relevant claims are alike share one array. */
  granted(claims: JsonObject): readonly Policy[];
}

interface RulesOptions {
  /** Whether policies that were saved in development apply; with an issuer they grant nothing. */
  development?: boolean;
  /** Called for a stored policy or group that cannot be compiled: it grants nothing. */
  warn(message: string): void;
}

interface RulesInput extends RulesOptions {
  policies: readonly Policy[];
  groups: readonly Group[];
  revision: number;
}

/** What is there now under each changed id; undefined where there is nothing any more. */
interface RulesChange {
  revision: number;
  policies: ReadonlyMap<string, Policy | undefined>;
  groups: ReadonlyMap<string, Group | undefined>;
}

export interface LiveRules {
  readonly current: Rules;
  has(what: 'policy' | 'group', id: string): boolean;
  /** Compiles what changed, and nothing else. Earlier rules must not be asked any more. */
  change(change: RulesChange): Rules;
}

export function compileRules(input: RulesInput): Rules {
  return createLiveRules(input).current;
}

/** Rules that are kept up to date by what changed. */
export function createLiveRules({ policies, groups, revision, warn, development = false }: RulesInput): LiveRules {
  const index = new PolicyIndex<CompiledPolicy>();
  const byId = new Map<string, CompiledPolicy>();
  const compiledGroups = new Map<string, ToolTest>();
  /** With those that do not compile. */
  const knownGroups = new Set<string>();

  function setPolicy(id: string, policy: Policy | undefined): void {
    const before = byId.get(id);
    if (before !== undefined) index.delete(before);
    byId.delete(id);
    if (policy === undefined) return;
    const compiled = compilePolicy(policy, development);
    if (compiled.warning !== undefined) warn(compiled.warning);
    byId.set(id, compiled.policy);
    if (canGrant(compiled.policy)) index.add(compiled.policy);
  }

  function setGroup(id: string, group: Group | undefined): void {
    compiledGroups.delete(id);
    knownGroups.delete(id);
    if (group === undefined) return;
    knownGroups.add(id);
    try {
      compiledGroups.set(id, compileGroup(group));
    } catch (error) {
      warn(`Group ${id} is empty: ${String(error)}`);
    }
  }

  for (const policy of policies) setPolicy(policy.id, policy);
  for (const group of groups) setGroup(group.id, group);
  let policiesNow = compiledPolicies(byId, index);
  let current: Rules = { revision, groups: compiledGroups, ...policiesNow };
  return {
    get current() {
      return current;
    },
    has: (what, id) => (what === 'policy' ? byId : knownGroups).has(id),
    change(change) {
      for (const [id, policy] of change.policies) setPolicy(id, policy);
      for (const [id, group] of change.groups) setGroup(id, group);
      // What was found out about callers' policies holds as long as the policies do.
      if (change.policies.size > 0) policiesNow = compiledPolicies(byId, index);
      current = { revision: change.revision, groups: compiledGroups, ...policiesNow };
      return current;
    },
  };
}

function compilePolicy(policy: Policy, development: boolean): { policy: CompiledPolicy; warning?: string } {
  if (policy.managed_by === 'development' && !development)
    return { policy: { policy, matchers: [], fault: 'it is from development: save it again to apply it here' } };
  try {
    return { policy: { policy, matchers: policy.matchers.map(compileMatcher) } };
  } catch (error) {
    const fault = `it cannot be compiled: ${String(error)}`;
    return { policy: { policy, matchers: [], fault }, warning: `Policy ${policy.id} grants nothing: ${fault}` };
  }
}

/** What the policies of one moment grant to whom. */
function compiledPolicies(
  byId: ReadonlyMap<string, CompiledPolicy>,
  index: PolicyIndex<CompiledPolicy>,
): Pick<Rules, 'policies' | 'granted'> {
  let readClaims: readonly (readonly string[])[] | undefined;
  const byRelevantClaims = new RecentMap<readonly Policy[]>(maxRemembered);
  const byPolicyIds = new RecentMap<readonly Policy[]>(mostBytes, (granted, ids) => 100 + ids.length + granted.length * 8);

  /** Two tokens differ in many claims (jti, exp), but only those that some matcher reads can change a decision. */
  function relevantClaims(): readonly (readonly string[])[] {
    const read = new Map<string, readonly string[]>();
    for (const { matchers } of byId.values()) for (const { claim, segments } of matchers) read.set(claim, segments);
    return [...read.values()];
  }

  return {
    policies: [...byId.values()].sort((a, b) => (a.policy.id < b.policy.id ? -1 : 1)),
    granted(claims) {
      readClaims ??= relevantClaims();
      // A hash, because claims can be long and many of them are kept.
      const relevant = hash('sha256', JSON.stringify(readClaims.map((segments) => claimAt(claims, segments) ?? null)), 'base64');
      const known = byRelevantClaims.get(relevant);
      if (known !== undefined) return known;
      const granting = [...index.candidates(claims)].filter((compiled) => grants(compiled, claims)).map(({ policy }) => policy);
      granting.sort((a, b) => (a.id < b.id ? -1 : 1));
      const ids = granting.map(({ id }) => id).join(' ');
      const granted = byPolicyIds.get(ids) ?? granting;
      byPolicyIds.set(ids, granted);
      byRelevantClaims.set(relevant, granted);
      return granted;
    },
  };
}

/** [POL-1] All matchers must hold, and a policy without any grants nothing. */
export function grants(compiled: CompiledPolicy, claims: JsonObject): boolean {
  return canGrant(compiled) && compiled.matchers.every((matcher) => matcher.holds(claims));
}

function canGrant({ policy, matchers }: CompiledPolicy): boolean {
  return policy.enabled && matchers.length > 0;
}
