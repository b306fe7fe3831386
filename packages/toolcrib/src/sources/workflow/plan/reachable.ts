import type { PlannedWorkflow } from '../../../model/workflow-plan.ts';
import { Unsupported } from '../unsupported.ts';

/** Limits the plan, because every tool stores its whole plan. */
const longestPlan = 200_000;

/**
 * Returns a function that lists a workflow and all workflows that it can reach. The function throws `Unsupported` if one of them was
 * skipped, or calls itself: a loop of steps ends at the limit for steps, but a loop of calls would exhaust the memory.
 */
export function createReachable(planned: ReadonlyMap<string, PlannedWorkflow | Unsupported>): (id: string) => PlannedWorkflow[] {
  const known = new Map<string, ReadonlySet<string>>();

  function allFrom(id: string): ReadonlySet<string> {
    const before = known.get(id);
    if (before !== undefined) return before;
    const found = new Set([id]);
    // The set grows while it is iterated.
    for (const next of found) {
      const workflow = planned.get(next);
      if (workflow === undefined || workflow instanceof Unsupported) continue;
      for (const other of innerOf(workflow)) found.add(other);
      for (const other of targetsOf(workflow)) found.add(other);
    }
    known.set(id, found);
    return found;
  }

  return (id) => {
    const found: PlannedWorkflow[] = [];
    for (const next of allFrom(id)) {
      const workflow = planned.get(next);
      if (workflow === undefined) continue;
      if (!(workflow instanceof Unsupported)) found.push(workflow);
      else throw next === id ? workflow : new Unsupported(`it leads to ${next}, which was skipped: ${workflow.message}`);
    }
    for (const workflow of found)
      for (const inner of innerOf(workflow))
        if (allFrom(inner).has(workflow.workflow_id)) throw new Unsupported(`${workflow.workflow_id} would call itself`);
    if (JSON.stringify(found).length > longestPlan) throw new Unsupported('its plan is too long; split it into smaller workflows');
    return found;
  };
}

/** The workflows that run while this one waits. */
function innerOf({ depends_on, steps }: PlannedWorkflow): Set<string> {
  const called = steps.flatMap(({ calls, on_failure }) => [
    ...('workflow_id' in calls ? [calls.workflow_id] : []),
    ...on_failure.filter(({ type }) => type === 'retry').flatMap(({ workflow_id }) => workflow_id ?? []),
  ]);
  return new Set([...depends_on, ...called]);
}

/** The workflows that this one hands over to with `goto`. */
function targetsOf({ steps }: PlannedWorkflow): string[] {
  return steps
    .flatMap(({ on_success, on_failure }) => [...on_success, ...on_failure])
    .filter(({ type }) => type === 'goto')
    .flatMap(({ workflow_id }) => workflow_id ?? []);
}
