import { CribError } from '../../model/crib-error.ts';
import type { Principal } from '../../model/principal.ts';
import type { PolicyTestResult } from '../../policy/policy-test.ts';
import type { ApplyInput } from './apply-configuration.ts';
import type { Applied, Plan } from './plan.ts';
import type { PlanInput } from './plan-configuration.ts';
import type { WishedState } from './wished-state.ts';

/** [SRC-6] Makes sources, groups and policies match a file. */
export interface ConfigurationAdministration {
  plan(wished: WishedState): Promise<Plan>;
  /** Throws if a test fails, or if the plan is not the reviewed one that `fingerprint` identifies. */
  apply(actor: Principal, wished: WishedState, options?: { fingerprint?: string }): Promise<Applied>;
}

export function createConfigurationAdministration(input: PlanInput & ApplyInput): ConfigurationAdministration {
  // Loaded on first use: most servers never plan anything.
  const loadPlanning = () => import('./plan-configuration.ts');
  return {
    async plan(wished) {
      const { planConfiguration } = await loadPlanning();
      const { fingerprint, changes, tests } = await planConfiguration(wished, input);
      return { fingerprint, changes, tests };
    },
    // Servers that start with the same file on one database apply it one after another; the second finds nothing left to do.
    apply: (actor, wished, { fingerprint } = {}) =>
      input.store.exclusively(async () => {
        const { planConfiguration } = await loadPlanning();
        const plan = await planConfiguration(wished, input);
        refuseFailed(plan.tests);
        if (fingerprint !== undefined && fingerprint !== plan.fingerprint)
          throw new CribError('CONFLICT', 'Something was changed since this plan was made: make a new plan and review it', {
            field: 'fingerprint',
          });
        const { applyConfiguration } = await import('./apply-configuration.ts');
        return { changes: await applyConfiguration(plan, actor, input), tests: plan.tests };
      }),
  };
}

function refuseFailed(tests: readonly PolicyTestResult[]): void {
  const failed = tests.filter(({ outcome }) => outcome === 'failed');
  if (failed.length === 0) return;
  const reasons = failed.map(({ name, reasons }) => `"${name}" (${reasons.slice(0, 3).join('; ')})`).slice(0, 10);
  throw new CribError('CONFLICT', `Nothing was changed, because these tests fail: ${reasons.join(', ')}`, { field: 'tests' });
}
