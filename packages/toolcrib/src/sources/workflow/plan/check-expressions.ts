import type { Json, JsonSchema } from '../../../model/json.ts';
import type { PlannedAction, PlannedCriterion, PlannedStep, PlannedWorkflow } from '../../../model/workflow-plan.ts';
import { isShownHeader } from '../../upstream/http/answer-headers.ts';
import { expressionsOf, parseCondition } from '../condition/parse-condition.ts';
import { expressionsIn } from '../expression/fill-in.ts';
import { parseExpression, type Expression } from '../expression/parse-expression.ts';
import { Unsupported } from '../unsupported.ts';

/** The names that expressions of a workflow may refer to. */
export interface Known {
  inputs: JsonSchema;
  workflows: ReadonlySet<string>;
  sources: ReadonlySet<string>;
  components: ReadonlySet<string>;
}

/** Throws `Unsupported` for an expression that can never have a value; warns of one that probably has none. */
export function checkExpressions(workflow: PlannedWorkflow, known: Known, warn: (message: string) => void): void {
  const outputsOf = new Map(workflow.steps.map((step) => [step.step_id, step.outputs]));

  function check(expression: Expression, written: string): void {
    switch (expression.kind) {
      case 'step': {
        const outputs = outputsOf.get(expression.step);
        if (outputs === undefined) throw new Unsupported(`${written} refers to a step that does not exist`);
        if (!hasName(outputs, expression.selection.name)) warn(`${written} has no value: step ${expression.step} has no such output`);
        return;
      }
      case 'input':
        if (!hasName(known.inputs['properties'], expression.selection.name)) warn(`${written} is not one of the inputs`);
        return;
      case 'workflow':
        return isThere(known.workflows, expression.workflow, written);
      case 'source':
        return isThere(known.sources, expression.source, written);
      case 'component':
        return isThere(known.components, expression.parameter, written);
      case 'response':
        if (expression.part === 'header' && !isShownHeader(expression.name.toLowerCase()))
          warn(`${written} has no value: workflows cannot read that header`);
        return;
      case 'output':
      case 'request':
      case 'status':
      case 'method':
      case 'url':
        // Known only at run time.
        return;
    }
  }

  function checkValue(value: Json): void {
    for (const { text, meaning } of expressionsIn(value)) {
      if (meaning === undefined) throw new Unsupported(`${text} is not a valid expression`);
      check(meaning, text);
    }
  }

  function checkCriteria(criteria: readonly PlannedCriterion[]): void {
    for (const { type, condition, context } of criteria) {
      const looksAt = context === null ? undefined : parseExpression(context);
      const found = type === 'simple' ? expressionsOf(parseCondition(condition)) : looksAt === undefined ? [] : [looksAt];
      for (const expression of found) check(expression, context ?? condition);
    }
  }

  for (const step of workflow.steps) {
    for (const value of valuesOf(step)) checkValue(value);
    checkCriteria([
      ...step.success_criteria,
      ...[...step.on_success, ...step.on_failure].flatMap((action: PlannedAction) => action.criteria),
    ]);
  }
  checkValue(workflow.outputs);
}

function valuesOf({ parameters, body, outputs }: PlannedStep): Json[] {
  const inBody = body === null ? [] : [body.payload, ...body.replacements.map(({ value }) => value)];
  return [...parameters.map(({ value }) => value), ...inBody, outputs];
}

/** Dots may select properties. */
function hasName(names: Json | undefined, name: string): boolean {
  if (typeof names !== 'object' || names === null) return false;
  return Object.hasOwn(names, name) || Object.keys(names).some((one) => name.startsWith(`${one}.`));
}

function isThere(names: ReadonlySet<string>, name: string, written: string): void {
  if (!names.has(name)) throw new Unsupported(`${written} refers to something that is not in this document`);
}
