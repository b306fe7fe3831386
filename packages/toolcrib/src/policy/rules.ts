import { hash } from 'node:crypto';
import type { JsonObject } from '../model/json.ts';
import type { Group, Policy } from '../model/policy.ts';
import type { Tool } from '../model/tool.ts';
import { claimAt } from './claim-path.ts';
import { compileGroup } from './group-membership.ts';
import { compileMatcher, type CompiledMatcher } from './matcher.ts';

/** How many different callers' grants are cached; beyond that the cache is cleared. */
const maxRemembered = 10_000;

interface CompiledPolicy {
  readonly policy: Policy;
  readonly matchers: readonly CompiledMatcher[];
  /** Why it grants nothing, whatever the claims are. */
  readonly fault?: string;
}

/** Everything administrators decided, compiled once per revision. */
export interface Rules {
  readonly revision: number;
  readonly policies: readonly CompiledPolicy[];
  readonly groups: ReadonlyMap<string, (tool: Tool) => boolean>;
  /** The policies that grant something to these claims. Callers whose relevant claims are alike share one array. */
  granted(claims: JsonObject): readonly Policy[];
}

export interface RulesInput {
  policies: readonly Policy[];
  groups: readonly Group[];
  revision: number;
  /** Whether policies that were saved in development apply; with an issuer they grant nothing. */
  development?: boolean;
  /** Called for a stored policy or group that cannot be compiled: it grants nothing. */
  warn(message: string): void;
}

export function compileRules({ policies, groups, revision, warn, development = false }: RulesInput): Rules {
  const compiledPolicies: CompiledPolicy[] = [];
  for (const policy of policies) {
    if (policy.managed_by === 'development' && !development) {
      compiledPolicies.push({ policy, matchers: [], fault: 'it is from development: save it again to apply it here' });
      continue;
    }
    try {
      compiledPolicies.push({ policy, matchers: policy.matchers.map(compileMatcher) });
    } catch (error) {
      const fault = `it cannot be compiled: ${String(error)}`;
      compiledPolicies.push({ policy, matchers: [], fault });
      warn(`Policy ${policy.id} grants nothing: ${fault}`);
    }
  }
  const compiledGroups = new Map<string, (tool: Tool) => boolean>();
  for (const group of groups) {
    try {
      compiledGroups.set(group.id, compileGroup(group));
    } catch (error) {
      warn(`Group ${group.id} is empty: ${String(error)}`);
    }
  }

  // Two tokens differ in many claims (jti, exp), but only those that some matcher reads can change a decision.
  const readSegments = [...new Set(compiledPolicies.flatMap(({ matchers }) => matchers.map(({ segments }) => JSON.stringify(segments))))];
  const readClaims = readSegments.map((segments) => JSON.parse(segments) as string[]);
  const byRelevantClaims = new Map<string, readonly Policy[]>();
  const byPolicyIds = new Map<string, readonly Policy[]>();

  return {
    revision,
    policies: compiledPolicies,
    groups: compiledGroups,
    granted(claims) {
      // A hash, because claims can be long and ten thousand of them are kept.
      const relevant = hash('sha256', JSON.stringify(readClaims.map((segments) => claimAt(claims, segments) ?? null)), 'base64');
      let granted = byRelevantClaims.get(relevant);
      if (granted === undefined) {
        granted = compiledPolicies.filter((compiled) => grants(compiled, claims)).map(({ policy }) => policy);
        if (byRelevantClaims.size >= maxRemembered) {
          byRelevantClaims.clear();
          byPolicyIds.clear();
        }
        const ids = granted.map(({ id }) => id).join(' ');
        granted = byPolicyIds.get(ids) ?? granted;
        byPolicyIds.set(ids, granted);
        byRelevantClaims.set(relevant, granted);
      }
      return granted;
    },
  };
}

/** [POL-1] All matchers must hold, and a policy without any grants nothing. */
export function grants({ policy, matchers }: CompiledPolicy, claims: JsonObject): boolean {
  return policy.enabled && matchers.length > 0 && matchers.every((matcher) => matcher.holds(claims));
}
