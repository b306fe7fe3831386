import { JSONPathEnvironment } from 'json-p3';
import { RE2JS } from 're2js';
import type { PlannedCriterion } from '../../../model/workflow-plan.ts';
import { parseCondition } from '../condition/parse-condition.ts';
import type { ArazzoCriterion } from '../document/arazzo-document.ts';
import { parseExpression } from '../expression/parse-expression.ts';
import { Unsupported } from '../unsupported.ts';

const jsonPath = new JSONPathEnvironment();

/** Everything in it is tried now, so that nothing is found not to be understood when the workflow runs. */
export function planCriterion({ condition, context, type: given }: ArazzoCriterion): PlannedCriterion {
  const type = typeof given === 'string' ? given : given.type;
  if (type === 'xpath') throw new Unsupported(`the criterion ${condition} is XPath, which is not supported`);
  if (type === 'simple') {
    understood(condition, () => parseCondition(condition));
    return { type, condition, context: null };
  }
  if (context === undefined) throw new Unsupported(`the criterion ${condition} does not say what it looks at: give it a context`);
  if (parseExpression(context) === undefined) throw new Unsupported(`${context} is no expression that is understood`);
  understood(condition, () => void (type === 'regex' ? RE2JS.compile(condition) : jsonPath.compile(condition)));
  return { type, condition, context };
}

function understood(condition: string, parse: () => void): void {
  try {
    parse();
  } catch (error) {
    throw new Unsupported(`the criterion ${condition} is not understood: ${error instanceof Error ? error.message : String(error)}`);
  }
}
