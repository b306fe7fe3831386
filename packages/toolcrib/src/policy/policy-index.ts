import type { Json, JsonObject } from '../model/json.ts';
import type { Scalar } from '../model/policy.ts';
import { claimAt } from './claim-path.ts';
import type { CompiledMatcher } from './matcher.ts';

interface Indexed {
  readonly matchers: readonly CompiledMatcher[];
}

interface Claim<Policy> {
  readonly segments: readonly string[];
  readonly byValue: Map<Scalar, Set<Policy>>;
}

/** The operators that hold for few callers come first. */
const operators = ['equals', 'in', 'contains'] as const;

/**
 * Finds the policies that may hold for a caller without asking each of them: by the value of one claim that the policy requires. Policies
 * that require no particular value are always asked.
 */
export class PolicyIndex<Policy extends Indexed> {
  readonly #byClaim = new Map<string, Claim<Policy>>();
  readonly #others = new Set<Policy>();

  add(policy: Policy): void {
    const required = requiredOf(policy);
    if (required === undefined) {
      this.#others.add(policy);
      return;
    }
    const { claim, segments } = required.matcher;
    const found = this.#byClaim.get(claim) ?? { segments, byValue: new Map<Scalar, Set<Policy>>() };
    this.#byClaim.set(claim, found);
    for (const value of required.values) {
      const ofValue = found.byValue.get(value);
      if (ofValue === undefined) found.byValue.set(value, new Set([policy]));
      else ofValue.add(policy);
    }
  }

  delete(policy: Policy): void {
    this.#others.delete(policy);
    const required = requiredOf(policy);
    if (required === undefined) return;
    const found = this.#byClaim.get(required.matcher.claim);
    for (const value of required.values) {
      const ofValue = found?.byValue.get(value);
      ofValue?.delete(policy);
      if (ofValue?.size === 0) found?.byValue.delete(value);
    }
    if (found?.byValue.size === 0) this.#byClaim.delete(required.matcher.claim);
  }

  /** At least those that hold, in no order. */
  candidates(claims: JsonObject): Set<Policy> {
    const found = new Set(this.#others);
    for (const { segments, byValue } of this.#byClaim.values()) {
      const claim = claimAt(claims, segments);
      if (claim === undefined) continue;
      for (const value of valuesOf(claim)) for (const policy of byValue.get(value as Scalar) ?? []) found.add(policy);
    }
    return found;
  }
}

function requiredOf({ matchers }: Indexed): { matcher: CompiledMatcher; values: readonly Scalar[] } | undefined {
  for (const operator of operators) {
    const matcher = matchers.find((one) => one.matcher.operator === operator);
    if (matcher === undefined) continue;
    const { value } = matcher.matcher as { value: Scalar | readonly Scalar[] };
    return { matcher, values: typeof value === 'object' ? value : [value] };
  }
  return undefined;
}

/** Every value that one of the operators compares the claim by. */
function valuesOf(claim: Json): readonly Json[] {
  if (Array.isArray(claim)) return claim;
  return typeof claim === 'string' && claim.includes(' ') ? [claim, ...claim.split(' ')] : [claim];
}
