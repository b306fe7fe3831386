import { CribError } from '../../model/crib-error.ts';
import type { Principal } from '../../model/principal.ts';
import type { GroupAdministration } from '../groups.ts';
import type { PolicyAdministration } from '../policies.ts';
import type { SourceAdministration } from '../sources.ts';
import type { DetailedPlan } from './plan-configuration.ts';
import type { AppliedChange, PlannedChange } from './plan.ts';

export interface ApplyInput {
  sources: SourceAdministration;
  groups: GroupAdministration;
  policies: PolicyAdministration;
}

interface Step {
  change: PlannedChange;
  run(): Promise<unknown>;
}

const managed_by = 'file';

/**
 * Carries out a plan. Every change goes through the administration, so that it is checked and recorded like a change made by hand. A
 * source that fails does not stop the other sources. After the first group or policy that fails, the remaining ones are not tried: a policy
 * must not be widened over a group that could not be narrowed. After any failure nothing is deleted. Applying again does the rest. An
 * object that was changed since the plan was made fails too: nobody has reviewed what overwriting it would undo.
 */
export async function applyConfiguration(plan: DetailedPlan, actor: Principal, { sources, groups, policies }: ApplyInput) {
  const ofSources = plan.sources.flatMap(({ change, form, known }) => {
    const run = () =>
      known === undefined
        ? sources.register(actor, form, { managed_by })
        : sources.replace(actor, known.id, form, { managed_by, seen: known.updated_at });
    return step(change, run);
  });
  const ofGroups = plan.groups.flatMap(({ id, change, input, seen }) => {
    const group = { ...input, managed_by } as const;
    return step(change, () =>
      change?.action === 'create' ? groups.create(actor, { id, ...group }) : groups.update(actor, id, group, { seen }),
    );
  });
  const ofPolicies = plan.policies.flatMap(({ id, change, input, seen }) => {
    const policy = { ...input, managed_by } as const;
    return step(change, () =>
      change?.action === 'create' ? policies.create(actor, { id, ...policy }) : policies.update(actor, id, policy, { seen }),
    );
  });
  const { deletions } = plan;
  const removals = [
    ...deletions.policies.map(({ id, updated_at: seen }) => ({
      change: deleted('policy', id),
      run: () => policies.delete(actor, id, { seen }),
    })),
    ...deletions.groups.map(({ id, updated_at: seen }) => ({
      change: deleted('group', id),
      run: () => groups.delete(actor, id, { seen }),
    })),
    ...deletions.sources.map(({ id, namespace, updated_at: seen }) => ({
      change: deleted('source', namespace),
      run: () => sources.delete(actor, id, { seen }),
    })),
  ];

  const done: AppliedChange[] = [];
  for (const { change, run } of ofSources) done.push(await tried(change, run));
  await runUntilFailure([...ofGroups, ...ofPolicies], done, false);
  await runUntilFailure(
    removals,
    done,
    done.some(({ outcome }) => outcome !== 'done'),
  );
  return done;
}

async function runUntilFailure(steps: readonly Step[], done: AppliedChange[], isStopped: boolean): Promise<void> {
  let stopped = isStopped;
  for (const { change, run } of steps) {
    const applied: AppliedChange = stopped ? { ...change, outcome: 'not_tried', error: null } : await tried(change, run);
    stopped ||= applied.outcome === 'failed';
    done.push(applied);
  }
}

async function tried(change: PlannedChange, run: Step['run']): Promise<AppliedChange> {
  try {
    await run();
    return { ...change, outcome: 'done', error: null };
  } catch (error) {
    if (!(error instanceof CribError)) throw error;
    return { ...change, outcome: 'failed', error };
  }
}

function step(change: PlannedChange | null, run: Step['run']): Step[] {
  return change === null ? [] : [{ change, run }];
}

function deleted(kind: PlannedChange['kind'], id: string): PlannedChange {
  return { kind, id, action: 'delete', fields: [] };
}
