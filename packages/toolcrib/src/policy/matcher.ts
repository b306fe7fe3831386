import type { Json, JsonObject } from '../model/json.ts';
import type { Matcher, Scalar } from '../model/policy.ts';
import { claimAt, claimSegments } from './claim-path.ts';
import { compileSafeRegex } from './safe-regex.ts';

export interface CompiledMatcher {
  readonly matcher: Matcher;
  readonly segments: readonly string[];
  /** The same for the same claim, however its path is written. */
  readonly claim: string;
  holds(claims: JsonObject): boolean;
}

/** [POL-1] [POL-2] A compiled condition. A missing claim fails every operator, even the negative ones. Throws on a bad expression. */
export function compileMatcher(matcher: Matcher): CompiledMatcher {
  const segments = claimSegments(matcher.path);
  const test = compileTest(matcher);
  return {
    matcher,
    segments,
    claim: JSON.stringify(segments),
    holds(claims) {
      const claim = claimAt(claims, segments);
      return claim !== undefined && test(claim);
    },
  };
}

function compileTest(matcher: Matcher): (claim: Json) => boolean {
  switch (matcher.operator) {
    case 'exists':
      return () => true;
    case 'equals':
      return (claim) => claim === matcher.value;
    case 'not_equals':
      return (claim) => (Array.isArray(claim) ? !claim.includes(matcher.value) : isScalar(claim) && claim !== matcher.value);
    case 'contains':
      return (claim) => elements(claim)?.includes(matcher.value) ?? false;
    case 'not_contains':
      return (claim) => elements(claim)?.includes(matcher.value) === false;
    case 'in':
      return (claim) => scalars(claim)?.some((element) => matcher.value.includes(element)) ?? false;
    case 'not_in':
      return (claim) => scalars(claim)?.some((element) => matcher.value.includes(element)) === false;
    case 'matches': {
      const matches = compileSafeRegex(matcher.value);
      return (claim) => (Array.isArray(claim) ? claim : [claim]).some((element) => typeof element === 'string' && matches(element));
    }
  }
}

/** The values that `contains` compares: a list, or the words of a string such as `scope`. Never a substring: `not-admin` does not contain `admin`. */
function elements(claim: Json): readonly Json[] | undefined {
  if (Array.isArray(claim)) return claim;
  return typeof claim === 'string' ? claim.split(' ').filter((word) => word !== '') : undefined;
}

/** The values that `in` compares; an object is neither in nor out of a set of scalars, so it denies. */
function scalars(claim: Json): readonly Scalar[] | undefined {
  if (Array.isArray(claim)) return claim.filter(isScalar);
  return isScalar(claim) ? [claim] : undefined;
}

function isScalar(claim: Json): claim is Scalar {
  return typeof claim === 'string' || typeof claim === 'number' || typeof claim === 'boolean';
}
