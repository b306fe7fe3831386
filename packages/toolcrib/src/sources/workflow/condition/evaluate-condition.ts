import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../../model/json.ts';
import { evaluateExpression, type Scope } from '../expression/evaluate-expression.ts';
import { memberOf } from '../../../model/json-pointer.ts';
import type { Comparison, Condition } from './parse-condition.ts';

/** Whether a condition holds. An expression without a value counts as null. */
export function evaluateCondition(condition: Condition, scope: Scope): boolean {
  const value = valueOf(condition, scope);
  return value !== null && value !== false && value !== 0 && value !== '';
}

function valueOf(condition: Condition, scope: Scope): Json {
  switch (condition.kind) {
    case 'literal':
      return condition.value;
    case 'expression':
      return evaluateExpression(condition.expression, scope) ?? null;
    case 'member':
      return memberOf(valueOf(condition.of, scope), condition.name) ?? null;
    case 'not':
      return !evaluateCondition(condition.of, scope);
    case 'and':
      return evaluateCondition(condition.left, scope) && evaluateCondition(condition.right, scope);
    case 'or':
      return evaluateCondition(condition.left, scope) || evaluateCondition(condition.right, scope);
    case 'compare':
      return compare(condition.operator, valueOf(condition.left, scope), valueOf(condition.right, scope));
  }
}

function compare(operator: Comparison, left: Json, right: Json): boolean {
  if (operator === '==') return equals(left, right);
  if (operator === '!=') return !equals(left, right);
  const [a, b] = comparable(left, right);
  if (typeof a !== typeof b || (typeof a !== 'number' && typeof a !== 'string')) return false;
  if (operator === '<' || operator === '<=') return operator === '<' ? a < (b as typeof a) : a <= (b as typeof a);
  return operator === '>' ? a > (b as typeof a) : a >= (b as typeof a);
}

function equals(left: Json, right: Json): boolean {
  const [a, b] = comparable(left, right);
  return isDeepStrictEqual(a, b);
}

/** Comparisons are loose: text ignores letter case, and is converted when compared with a number or a boolean. */
function comparable(left: Json, right: Json): [Json, Json] {
  if (typeof left === 'string' && typeof right === 'string') return [left.toLowerCase(), right.toLowerCase()];
  if (typeof left === 'string') return [like(left, right), right];
  if (typeof right === 'string') return [left, like(right, left)];
  return [left, right];
}

function like(text: string, other: Json): Json {
  if (typeof other === 'number') return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
  if (typeof other === 'boolean') return text.toLowerCase() === String(other) ? other : text;
  return text;
}
