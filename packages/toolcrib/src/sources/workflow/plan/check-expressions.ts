import type { Json, JsonSchema } from '../../../model/json.ts';
import type { PlannedAction, PlannedCriterion, PlannedStep, PlannedWorkflow } from '../../../model/workflow-plan.ts';
import { isShownHeader } from '../../openapi/answer/answer-headers.ts';
import { expressionsOf, parseCondition } from '../condition/parse-condition.ts';
import { expressionsIn } from '../expression/fill-in.ts';
import { parseExpression, type Expression } from '../expression/parse-expression.ts';
import { Unsupported } from '../unsupported.ts';

/** What expressions of a workflow may be about. */
export interface Known {
  inputs: JsonSchema;
  workflows: ReadonlySet<string>;
  sources: ReadonlySet<string>;
  components: ReadonlySet<string>;
}

/** Throws `Unsupported` for what can never have a value; `warn` is told about what probably has none. */
export function checkExpressions(workflow: PlannedWorkflow, known: Known, warn: (message: string) => void): void {
  const outputsOf = new Map(workflow.steps.map((step) => [step.step_id, step.outputs]));

  function check(expression: Expression, written: string): void {
    switch (expression.kind) {
      case 'step': {
        const outputs = outputsOf.get(expression.step);
        if (outputs === undefined) throw new Unsupported(`${written} is about a step that is not there`);
        if (!hasName(outputs, expression.selection.name)) warn(`${written} has no value: step ${expression.step} has no such output`);
        return;
      }
      case 'input':
        if (!hasName(known.inputs['properties'], expression.selection.name)) warn(`${written} is not among the inputs`);
        return;
      case 'workflow':
        return isThere(known.workflows, expression.workflow, written);
      case 'source':
        return isThere(known.sources, expression.source, written);
      case 'component':
        return isThere(known.components, expression.parameter, written);
      case 'response':
        if (expression.part === 'header' && !isShownHeader(expression.name.toLowerCase()))
          warn(`${written} has no value: that header is not shown`);
        return;
      case 'output':
      case 'request':
      case 'status':
      case 'method':
      case 'url':
        // Known only when it runs.
        return;
    }
  }

  function checkValue(value: Json): void {
    for (const { text, meaning } of expressionsIn(value)) {
      if (meaning === undefined) throw new Unsupported(`${text} is no expression that is understood`);
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

/** With dots, properties may be asked for. */
function hasName(names: Json | undefined, name: string): boolean {
  if (typeof names !== 'object' || names === null) return false;
  return Object.hasOwn(names, name) || Object.keys(names).some((one) => name.startsWith(`${one}.`));
}

function isThere(names: ReadonlySet<string>, name: string, written: string): void {
  if (!names.has(name)) throw new Unsupported(`${written} is about something that is not in this document`);
}
