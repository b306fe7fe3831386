import type { Steps } from '../../../durable/steps.ts';
import { CribError } from '../../../model/crib-error.ts';
import type { ErrorCode } from '../../../model/error-code.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { Origin } from '../../../model/origin.ts';
import type { PlannedAction, PlannedStep, PlannedWorkflow, WorkflowPlan } from '../../../model/workflow-plan.ts';
import type { CallContext } from '../../source.ts';
import type { CallTool } from '../../source-ports.ts';
import { firstUnmet, type FindsAny } from '../criterion.ts';
import type { Exchange, Scope } from '../expression/evaluate-expression.ts';
import { fillIn } from '../expression/fill-in.ts';
import { callToolStep } from './call-tool-step.ts';
import { pauseMs } from './pause-ms.ts';
import { refusedAnswer, type StepAnswer } from './step-answer.ts';
import { stepArguments } from './step-arguments.ts';
import { Trail } from './trail.ts';

export interface RunInput {
  plan: WorkflowPlan;
  context: CallContext;
  steps: Steps;
  callTool: CallTool;
  findsAny: FindsAny;
}

export interface Failure {
  step: string;
  message: string;
  /** The error code of the step's answer; null if the answer was a success, but did not meet the criteria. */
  code: ErrorCode | null;
  origin: Origin;
  status: number | null;
}

/** How a workflow ended, with its outputs so far. */
export interface Ending {
  outputs: JsonObject;
  failure: Failure | null;
  /** The request and the response of the last step. */
  exchange: Exchange | null;
}

/** One workflow while it runs. */
interface Frame {
  workflow: PlannedWorkflow;
  inputs: JsonObject;
  outputsOf: Map<string, JsonObject>;
  /** The prefix of its step names if it runs inside another workflow. */
  prefix: string;
}

/** The result of a step's call. `outputs` is empty unless the step called a workflow. */
interface Called {
  exchange: Exchange | null;
  answer: StepAnswer;
  outputs: JsonObject;
}

interface Attempt {
  name: string;
  scope: Scope;
  exchange: Exchange | null;
  failure: Failure | null;
}

/** [WF-1] [WF-2] One call of a workflow. Every effect is a durable step; the code between the steps depends only on their results. */
export class WorkflowRun {
  readonly trail: Trail;
  readonly #input: RunInput;
  readonly #workflows = new Map<string, { inputs: JsonObject; outputs: JsonObject }>();

  constructor(input: RunInput) {
    this.#input = input;
    this.trail = new Trail(this.#find(input.plan.workflow_id));
  }

  run(inputs: JsonObject): Promise<Ending> {
    return this.#runWorkflow(this.#input.plan.workflow_id, inputs, '');
  }

  async #runWorkflow(id: string, inputs: JsonObject, prefix: string): Promise<Ending> {
    for (let next = id; ;) {
      const workflow = this.#find(next);
      const frame: Frame = { workflow, inputs: { ...workflow.defaults, ...inputs }, outputsOf: new Map(), prefix };
      const ended = (await this.#runDependencies(frame)) ?? (await this.#runSteps(frame));
      if (!('workflow_id' in ended)) return ended;
      // A `goto` another workflow, which gets the same inputs and replaces this one.
      next = ended.workflow_id;
    }
  }

  async #runDependencies({ workflow, prefix }: Frame): Promise<Ending | undefined> {
    for (const id of workflow.depends_on) {
      if (this.#workflows.has(id)) continue;
      const ending = await this.#runWorkflow(id, {}, `${prefix}${id}/`);
      if (ending.failure !== null) return ending;
    }
    return undefined;
  }

  async #runSteps(frame: Frame): Promise<Ending | { workflow_id: string }> {
    const { steps } = frame.workflow;
    let exchange: Exchange | null = null;
    for (let at = 0; at < steps.length;) {
      const step = steps[at] as PlannedStep;
      const { attempt, action } = await this.#runStep(step, frame);
      exchange = attempt.exchange;
      if (action?.type === 'goto') {
        if (action.workflow_id !== null) return { workflow_id: action.workflow_id };
        at = steps.findIndex(({ step_id }) => step_id === action.step_id);
      } else if (attempt.failure !== null) return this.#end(frame, exchange, attempt.failure);
      else if (action?.type === 'end') break;
      else at++;
    }
    return this.#end(frame, exchange, null);
  }

  #end(frame: Frame, exchange: Exchange | null, failure: Failure | null): Ending {
    const { workflow, inputs } = frame;
    const outputs = filled(workflow.outputs, this.#scope(frame, null, {}));
    this.#workflows.set(workflow.workflow_id, { inputs, outputs });
    return { outputs, failure, exchange };
  }

  /** Runs a step with its retries. Returns the last attempt, and the action that follows. */
  async #runStep(step: PlannedStep, frame: Frame): Promise<{ attempt: Attempt; action: PlannedAction | undefined }> {
    const tries = new Map<PlannedAction, number>();
    for (;;) {
      const attempt = await this.#attempt(step, frame);
      if (attempt.failure === null) return { attempt, action: await this.#firstThatFits(step.on_success, attempt.scope) };
      const isLeft = (action: PlannedAction) => action.type !== 'retry' || (tries.get(action) ?? 0) < action.retry_limit;
      const action = await this.#firstThatFits(step.on_failure.filter(isLeft), attempt.scope);
      if (action?.type !== 'retry') return { attempt, action };
      tries.set(action, (tries.get(action) ?? 0) + 1);
      await this.#beforeRetry(action, attempt, frame);
    }
  }

  async #beforeRetry(action: PlannedAction, { name, exchange }: Attempt, frame: Frame): Promise<void> {
    const { steps, context } = this.#input;
    const ms = pauseMs(exchange?.headers['retry-after'], action.retry_after_ms);
    if (ms > 0) await steps.sleep(`${name} pause`, ms, context.signal);
    const before = frame.workflow.steps.find(({ step_id }) => step_id === action.step_id);
    // The result does not matter: the failed step is tried again in any case.
    if (before !== undefined) await this.#attempt(before, frame);
    if (action.workflow_id !== null) await this.#runWorkflow(action.workflow_id, frame.inputs, `${name}/${action.name}/`);
  }

  async #firstThatFits(actions: readonly PlannedAction[], scope: Scope): Promise<PlannedAction | undefined> {
    for (const action of actions) if ((await firstUnmet(action.criteria, scope, this.#input.findsAny)) === undefined) return action;
    return undefined;
  }

  async #attempt(step: PlannedStep, frame: Frame): Promise<Attempt> {
    const path = `${frame.prefix}${step.step_id}`;
    const name = this.trail.enter(step, frame.prefix, this.#input.context);
    const { exchange, answer, outputs } = await this.#call(step, frame, name);
    this.#input.context.signal.throwIfAborted();
    const scope = this.#scope(frame, exchange, outputs);
    // Without a response there is nothing to check.
    const criteria = answer.status === null ? [] : step.success_criteria;
    const unmet = await firstUnmet(criteria, scope, this.#input.findsAny);
    const succeeded = criteria.length === 0 ? answer.ok : unmet === undefined;
    this.trail.records.push({ step: path, call_id: answer.call_id, status: answer.status, succeeded });
    if (!succeeded) return { name, scope, exchange, failure: failureOf(path, answer, unmet?.condition) };
    frame.outputsOf.set(step.step_id, filled(step.outputs, scope));
    return { name, scope, exchange, failure: null };
  }

  async #call(step: PlannedStep, frame: Frame, name: string): Promise<Called> {
    const { calls } = step;
    let made;
    try {
      made = stepArguments(step, this.#scope(frame, null, {}));
    } catch (error) {
      if (!(error instanceof CribError)) throw error;
      return { exchange: null, answer: refusedAnswer(error), outputs: {} };
    }
    if ('workflow_id' in calls) return this.#callWorkflow(calls.workflow_id, made.args, name);
    return { ...(await callToolStep({ step, call: calls, name, made }, this.#input)), outputs: {} };
  }

  /** Runs a workflow inside this one. Its ending serves as the answer of the step. */
  async #callWorkflow(id: string, inputs: JsonObject, name: string): Promise<Called> {
    const { outputs, failure, exchange } = await this.#runWorkflow(id, inputs, `${name}/`);
    const { message = null, code = null, origin = null } = failure ?? {};
    // A failed workflow has no status, so that criteria cannot accept it.
    const status = failure === null ? (exchange?.status ?? null) : null;
    return { exchange, answer: { call_id: null, ok: failure === null, status, headers: {}, body: null, message, code, origin }, outputs };
  }

  #scope(frame: Frame, exchange: Exchange | null, outputs: JsonObject): Scope {
    const { source_urls: sourceUrls, component_values: componentValues } = this.#input.plan;
    return { inputs: frame.inputs, outputs, steps: frame.outputsOf, workflows: this.#workflows, sourceUrls, componentValues, exchange };
  }

  #find(id: string): PlannedWorkflow {
    const workflow = this.#input.plan.workflows.find(({ workflow_id }) => workflow_id === id);
    if (workflow === undefined) throw new CribError('INTERNAL', `The plan has no workflow ${id}`);
    return workflow;
  }
}

function failureOf(step: string, { message, code, origin, status }: StepAnswer, criterion: string | undefined): Failure {
  const why = [criterion === undefined ? undefined : `${criterion} does not hold`, message ?? undefined].filter(
    (part) => part !== undefined,
  );
  const answered = status === null ? '' : ` (status ${status})`;
  return {
    step,
    message: `Step ${step} failed${answered}: ${why.join('; ') || 'it was not successful'}`,
    code,
    origin: origin ?? 'tool',
    status,
  };
}

function filled(expressions: Record<string, string>, scope: Scope): JsonObject {
  return fillIn(expressions, scope) as JsonObject;
}
