import { JSONPathEnvironment } from 'json-p3';
import { RE2JS } from 're2js';
import type { PlannedCriterion } from '../../../model/workflow-plan.ts';
import { parseCondition } from '../condition/parse-condition.ts';
import type { ArazzoCriterion } from '../document/arazzo-document.ts';
import { parseExpression } from '../expression/parse-expression.ts';
import { Unsupported } from '../unsupported.ts';

const jsonPath = new JSONPathEnvironment();

/** Parses everything at import, so that a running workflow never meets an invalid criterion. */
export function planCriterion({ condition, context, type: given }: ArazzoCriterion): PlannedCriterion {
  const type = typeof given === 'string' ? given : given.type;
  if (type === 'xpath') throw new Unsupported(`the criterion ${condition} is XPath, which is not supported`);
  if (type === 'simple') {
    checkSyntax(condition, () => parseCondition(condition));
    return { type, condition, context: null };
  }
  if (context === undefined) throw new Unsupported(`the criterion ${condition} needs a context: the expression whose value it checks`);
  if (parseExpression(context) === undefined) throw new Unsupported(`${context} is not a valid expression`);
  checkSyntax(condition, () => void (type === 'regex' ? RE2JS.compile(condition) : jsonPath.compile(condition)));
  return { type, condition, context };
}

function checkSyntax(condition: string, parse: () => void): void {
  try {
    parse();
  } catch (error) {
    throw new Unsupported(`the criterion ${condition} is invalid: ${error instanceof Error ? error.message : String(error)}`);
  }
}
