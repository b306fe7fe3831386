import { CribError } from '../../../model/crib-error.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { PlannedStep, PlannedWorkflow } from '../../../model/workflow-plan.ts';
import type { CallContext } from '../../source.ts';

/** Ends a loop of steps. */
const mostSteps = 1000;

/** One attempt at a step. */
export interface StepRecord extends JsonObject {
  step: string;
  call_id: string | null;
  status: number | null;
  succeeded: boolean;
}

/** The steps that a call has run so far. */
export class Trail {
  readonly records: StepRecord[] = [];
  readonly #visits = new Map<string, number>();
  readonly #workflow: PlannedWorkflow;
  #steps = 0;

  constructor(workflow: PlannedWorkflow) {
    this.#workflow = workflow;
  }

  /** Counts an attempt and returns its name, the same when the call is resumed. `prefix` is for a workflow inside another one. */
  enter({ step_id, description }: PlannedStep, prefix: string, context: CallContext): string {
    const path = `${prefix}${step_id}`;
    const visit = (this.#visits.get(path) ?? 0) + 1;
    this.#visits.set(path, visit);
    if (++this.#steps > mostSteps) {
      const { workflow_id } = this.#workflow;
      throw new CribError('VALIDATION_ERROR', `${workflow_id} was ended after ${mostSteps} steps: look for a loop of steps`);
    }
    const total = this.#workflow.steps.length;
    const message = [path, description.split('\n')[0]].filter((part) => part !== '').join(': ');
    // The total is unknown if steps are repeated, or call workflows.
    context.progress({ progress: this.#steps, ...(this.#steps <= total ? { total } : {}), message });
    return `${path}#${visit}`;
  }
}
