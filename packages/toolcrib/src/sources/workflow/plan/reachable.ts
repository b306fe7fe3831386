import type { PlannedWorkflow } from '../../../model/workflow-plan.ts';
import { Unsupported } from '../unsupported.ts';

/** Every tool has its whole plan with it. */
const longestPlan = 200_000;

/**
 * Answers for a workflow all that it may come to, itself first. Throws `Unsupported` where one of them was left out, or runs itself inside
 * itself: what goes round in steps ends by their number, what goes round in calls would end by memory.
 */
export function createReachable(planned: ReadonlyMap<string, PlannedWorkflow | Unsupported>): (id: string) => PlannedWorkflow[] {
  const known = new Map<string, ReadonlySet<string>>();

  function allFrom(id: string): ReadonlySet<string> {
    const before = known.get(id);
    if (before !== undefined) return before;
    const found = new Set([id]);
    // Walked to its end while it grows.
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
      else throw next === id ? workflow : new Unsupported(`it leads to ${next}, which was left out: ${workflow.message}`);
    }
    for (const workflow of found)
      for (const inner of innerOf(workflow))
        if (allFrom(inner).has(workflow.workflow_id)) throw new Unsupported(`${workflow.workflow_id} would run itself inside itself`);
    if (JSON.stringify(found).length > longestPlan) throw new Unsupported('it comes to too many steps; cut it in parts');
    return found;
  };
}

/** Those that are run while this one waits. */
function innerOf({ depends_on, steps }: PlannedWorkflow): Set<string> {
  const called = steps.flatMap(({ calls, on_failure }) => [
    ...('workflow_id' in calls ? [calls.workflow_id] : []),
    ...on_failure.filter(({ type }) => type === 'retry').flatMap(({ workflow_id }) => workflow_id ?? []),
  ]);
  return new Set([...depends_on, ...called]);
}

/** Those that this one is left for. */
function targetsOf({ steps }: PlannedWorkflow): string[] {
  return steps
    .flatMap(({ on_success, on_failure }) => [...on_success, ...on_failure])
    .filter(({ type }) => type === 'goto')
    .flatMap(({ workflow_id }) => workflow_id ?? []);
}
