import type { JsonObject } from '../model/json.ts';
import type { Matcher } from '../model/policy.ts';
import type { Tool } from '../model/tool.ts';
import { claimAt } from './claim-path.ts';
import { grants, type Rules } from './rules.ts';

interface MatcherExplanation {
  matcher: Matcher;
  holds: boolean;
  reason: string;
}

export interface PolicyExplanation {
  id: string;
  name: string;
  grants: boolean;
  reason: string;
  matchers: MatcherExplanation[];
  /** The ids of the granted groups that contain the tool, or of all its groups where no tool was asked about. */
  groups: string[];
}

/** [POL-3] The same decision as `accessOf`, explained for a person. */
export function explainPolicies(rules: Rules, claims: JsonObject, tool?: Tool): PolicyExplanation[] {
  return rules.policies.map((compiled) => {
    const { policy } = compiled;
    const matchers = compiled.matchers.map((matcher) => {
      const claim = claimAt(claims, matcher.segments);
      const holds = matcher.holds(claims);
      const reason =
        claim === undefined ? 'the claim is missing' : `the claim is ${abbreviate(claim)}, which ${holds ? 'fits' : 'does not fit'}`;
      return { matcher: matcher.matcher, holds, reason };
    });
    const holds = grants(compiled, claims);
    const groups = tool === undefined ? policy.groups : policy.groups.filter((id) => rules.groups.get(id)?.(tool) ?? false);
    const callable = tool === undefined || tool.state === 'active';
    return { id: policy.id, name: policy.name, grants: holds && callable && groups.length > 0, reason: reasonFor(), matchers, groups };

    function reasonFor(): string {
      if (!policy.enabled) return 'the policy is disabled';
      if (compiled.fault !== undefined) return compiled.fault;
      if (matchers.length === 0) return 'the policy has no matchers, so it grants nothing';
      if (!holds) return 'not every matcher holds';
      if (policy.groups.length === 0) return 'the policy grants no group';
      if (!callable) return `every matcher holds, but the tool is ${tool.state}`;
      return groups.length > 0 ? 'every matcher holds' : 'every matcher holds, but none of its groups has this tool';
    }
  });
}

function abbreviate(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
