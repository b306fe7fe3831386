import { CribError } from '../../../model/crib-error.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { PlannedStep, PlannedWorkflow } from '../../../model/workflow-plan.ts';
import type { CallContext } from '../../source.ts';

/** So that steps that go to each other come to an end. */
const mostSteps = 1000;

/** One try of a step. */
export interface StepRecord extends JsonObject {
  step: string;
  call_id: string | null;
  status: number | null;
  succeeded: boolean;
}

/** What a call has come by so far. */
export class Trail {
  readonly records: StepRecord[] = [];
  readonly #visits = new Map<string, number>();
  readonly #workflow: PlannedWorkflow;
  #steps = 0;

  constructor(workflow: PlannedWorkflow) {
    this.#workflow = workflow;
  }

  /** The name of this try of the step, the same on every run of the call. `prefix` is where the workflow runs inside another. */
  enter({ step_id, description }: PlannedStep, prefix: string, context: CallContext): string {
    const path = `${prefix}${step_id}`;
    const visit = (this.#visits.get(path) ?? 0) + 1;
    this.#visits.set(path, visit);
    if (++this.#steps > mostSteps) {
      const { workflow_id } = this.#workflow;
      throw new CribError('VALIDATION_ERROR', `${workflow_id} was ended after ${mostSteps} steps: look for steps that go to each other`);
    }
    const total = this.#workflow.steps.length;
    const message = [path, description.split('\n')[0]].filter((part) => part !== '').join(': ');
    // Where steps are repeated, or made of others, nobody knows how many there will be.
    context.progress({ progress: this.#steps, ...(this.#steps <= total ? { total } : {}), message });
    return `${path}#${visit}`;
  }
}
