import type { Json, JsonObject, JsonSchema } from '../../../model/json.ts';
import type { PlannedAction, PlannedStep, PlannedWorkflow } from '../../../model/workflow-plan.ts';
import type { ArazzoAction, ArazzoDocument, ArazzoParameter, ArazzoStep, ArazzoWorkflow } from '../document/arazzo-document.ts';
import { resolveAction, resolveParameter } from '../document/components.ts';
import { memberOf } from '../../../model/json-pointer.ts';
import { Unsupported } from '../unsupported.ts';
import { bindOperation, type Sources } from './bind-operation.ts';
import { checkExpressions } from './check-expressions.ts';
import { planCriterion } from './plan-criterion.ts';
import { planBody, planParameters, planToolCall } from './plan-request.ts';

export interface PlanningInput {
  workflow: ArazzoWorkflow;
  inputs: JsonSchema;
  /** All workflows of the document that could be read, by id. */
  workflows: ReadonlyMap<string, ArazzoWorkflow>;
  components: ArazzoDocument['components'];
  sources: Sources;
  warn(message: string): void;
}

/** Binds the steps of one workflow to the tools that they call. Throws `Unsupported`. */
export function planWorkflow({ workflow, inputs, workflows, components, sources, warn }: PlanningInput): PlannedWorkflow {
  const stepIds = workflow.steps.map(({ stepId }) => stepId);
  const twice = stepIds.find((id, index) => stepIds.indexOf(id) !== index);
  if (twice !== undefined) throw new Unsupported(`two steps are named ${twice}; rename one`);
  const common = workflow.parameters.map((one) => resolveParameter(one, components));

  function planStep(step: ArazzoStep): PlannedStep {
    const own = step.parameters.map((one) => resolveParameter(one, components));
    const parameters = [...own, ...common.filter((one) => !own.some((other) => isSame(one, other)))];
    const warnOf = (message: string) => warn(`step ${step.stepId}: ${message}`);
    return {
      step_id: step.stepId,
      description: step.description,
      ...planCall(step, parameters, warnOf),
      success_criteria: step.successCriteria.map(planCriterion),
      on_success: planActions(step.onSuccess, workflow.successActions, 'successActions'),
      on_failure: planActions(step.onFailure, workflow.failureActions, 'failureActions'),
      outputs: step.outputs,
    };
  }

  function planCall(step: ArazzoStep, parameters: ArazzoParameter[], warnOf: (message: string) => void) {
    const { operationId, operationPath, workflowId, requestBody } = step;
    if ([operationId, operationPath, workflowId].filter((one) => one !== undefined).length !== 1) {
      throw new Unsupported('give exactly one of operationId, operationPath and workflowId');
    }
    if (workflowId === undefined) {
      const tool = bindOperation(step, sources);
      const { operation } = tool;
      const planned = planParameters(parameters, operation, warnOf);
      const body = planBody(requestBody, operation);
      return { calls: planToolCall(tool, planned, body), parameters: planned, body };
    }
    if (requestBody !== undefined) throw new Unsupported('a workflow takes parameters, not a requestBody');
    const planned = parameters.map(({ name, value }) => ({ argument: name, name, in: null, value }));
    return { calls: { workflow_id: ownWorkflow(workflowId) }, parameters: planned, body: null };
  }

  function planActions(
    own: ArazzoStep['onSuccess'] | ArazzoStep['onFailure'],
    ofAll: ArazzoStep['onSuccess'] | ArazzoStep['onFailure'],
    section: 'successActions' | 'failureActions',
  ): PlannedAction[] {
    const first = own.map((one) => resolveAction(one, section, components));
    const rest = ofAll.map((one) => resolveAction(one, section, components));
    // A step's action overrides the workflow's action of the same name.
    return [...first, ...rest.filter(({ name }) => !first.some((one) => one.name === name))].map(planAction);
  }

  function planAction(action: ArazzoAction): PlannedAction {
    const { name, type, stepId, workflowId, criteria } = action;
    if (stepId !== undefined && workflowId !== undefined)
      throw new Unsupported(`the action ${name} names both a step and a workflow; give only one`);
    if (type === 'goto' && stepId === undefined && workflowId === undefined)
      throw new Unsupported(`the action ${name} needs a stepId or a workflowId`);
    if (stepId !== undefined && !stepIds.includes(stepId))
      throw new Unsupported(`the action ${name} names step ${stepId}, which does not exist`);
    return {
      name,
      type,
      step_id: stepId ?? null,
      workflow_id: workflowId === undefined ? null : ownWorkflow(workflowId),
      retry_after_ms: Math.round(('retryAfter' in action ? action.retryAfter : 0) * 1000),
      retry_limit: 'retryLimit' in action ? action.retryLimit : 0,
      criteria: criteria.map(planCriterion),
    };
  }

  function ownWorkflow(id: string): string {
    if (workflows.has(id)) return id;
    if (!id.startsWith('$')) throw new Unsupported(`there is no workflow ${id} in this document`);
    throw new Unsupported(`${id} is a workflow of another document; only workflows of this document can be called`);
  }

  const planned: PlannedWorkflow = {
    workflow_id: workflow.workflowId,
    depends_on: workflow.dependsOn.map((id) => withoutInputs(ownWorkflow(id), workflows)),
    defaults: defaultsOf(inputs),
    steps: workflow.steps.map((step) => of(`step ${step.stepId}`, () => planStep(step))),
    outputs: workflow.outputs,
  };
  const names = (record: object) => new Set(Object.keys(record));
  const sourceNames = new Set(sources.descriptions.map(({ name }) => name));
  const known = { inputs, workflows: new Set(workflows.keys()), sources: sourceNames, components: names(components.parameters) };
  checkExpressions(planned, known, warn);
  return planned;
}

function defaultsOf({ properties }: JsonSchema): Record<string, Json> {
  const entries = Object.entries((properties ?? {}) as JsonObject).flatMap(([name, schema]): [string, Json][] => {
    const value = memberOf(schema, 'default');
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

/** A dependency must need no inputs, because nothing passes any to it. */
function withoutInputs(id: string, workflows: PlanningInput['workflows']): string {
  if (workflows.get(id)?.inputs === undefined) return id;
  throw new Unsupported(`it depends on ${id}, which has inputs; call ${id} in a step instead, which can pass them`);
}

function isSame(one: ArazzoParameter, other: ArazzoParameter): boolean {
  return one.name === other.name && one.in === other.in;
}

/** Adds the place in the workflow to the message of an error. */
function of<Result>(place: string, plan: () => Result): Result {
  try {
    return plan();
  } catch (error) {
    if (error instanceof Unsupported) throw new Unsupported(`${place}: ${error.message}`);
    throw error;
  }
}
