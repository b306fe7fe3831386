import { RE2JS } from 're2js';
import type { Json } from '../../model/json.ts';
import type { PlannedCriterion } from '../../model/workflow-plan.ts';
import { evaluateCondition } from './condition/evaluate-condition.ts';
import { parseCondition } from './condition/parse-condition.ts';
import { evaluateExpression, type Scope } from './expression/evaluate-expression.ts';
import { plainText } from './expression/fill-in.ts';
import { parseExpression } from './expression/parse-expression.ts';

/** Whether a JSONPath query finds anything. Must limit its time, because neither the query nor the value is trusted. */
export type FindsAny = (query: string, value: Json) => Promise<boolean>;

/** An RE2 match takes one step per instruction and character: this limits it to a fraction of a second. */
const mostSteps = 10_000_000;

/** The first criterion that does not hold; undefined if all hold. */
export async function firstUnmet(
  criteria: readonly PlannedCriterion[],
  scope: Scope,
  findsAny: FindsAny,
): Promise<PlannedCriterion | undefined> {
  for (const criterion of criteria) if (!(await isMet(criterion, scope, findsAny))) return criterion;
  return undefined;
}

async function isMet({ type, condition, context }: PlannedCriterion, scope: Scope, findsAny: FindsAny): Promise<boolean> {
  if (type === 'simple') return evaluateCondition(parseCondition(condition), scope);
  const expression = parseExpression(context ?? '');
  const value = expression && evaluateExpression(expression, scope);
  if (value === undefined) return false;
  if (type === 'jsonpath') return findsAny(condition, value);
  const text = plainText(value);
  const pattern = RE2JS.compile(condition);
  return text.length * pattern.programSize() <= mostSteps && pattern.matcher(text).find();
}
