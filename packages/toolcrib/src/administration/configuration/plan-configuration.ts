import { hash } from 'node:crypto';
import type { Inventory } from '../../inventory/inventory.ts';
import { canonicalJson } from '../../model/canonical-json.ts';
import { CribError } from '../../model/crib-error.ts';
import type { Group, GroupInput, Policy, PolicyInput } from '../../model/policy.ts';
import type { SourceRecord } from '../../model/source.ts';
import { runPolicyTests } from '../../policy/policy-test.ts';
import { compileRules } from '../../policy/rules.ts';
import type { ScopeOf } from '../registration-scope.ts';
import type { Store } from '../../store/store.ts';
import type { Plan, PlannedChange } from './plan.ts';
import { plannedGroups, plannedPolicies, type PlannedRule } from './planned-rules.ts';
import { plannedSources, type PlannedSource } from './planned-sources.ts';
import type { WishedState } from './wished-state.ts';

/** A plan with everything needed to carry it out. */
export interface DetailedPlan extends Plan {
  sources: readonly PlannedSource[];
  groups: readonly PlannedRule<GroupInput>[];
  policies: readonly PlannedRule<PolicyInput>[];
  deletions: { sources: readonly SourceRecord[]; groups: readonly Group[]; policies: readonly Policy[] };
}

export interface PlanInput {
  store: Store;
  inventory: Inventory;
  scopeOf: ScopeOf;
  /** Whether policies saved in development are in force. */
  development: boolean;
}

/** Compares the wished state with the stored one. Changes nothing. */
export async function planConfiguration(wished: WishedState, { store, inventory, scopeOf, development }: PlanInput): Promise<DetailedPlan> {
  // Another server may have changed something a moment ago.
  await inventory.reload(new Set(['source', 'tool', 'group', 'policy']));
  const stored = await store.snapshot(async (nouns) => ({
    sources: await nouns.sources.list(),
    groups: await nouns.groups.list(),
    policies: await nouns.policies.list(),
  }));
  const deletions = {
    sources: stored.sources.filter(({ namespace, managed_by }) => managed_by === 'file' && !Object.hasOwn(wished.sources, namespace)),
    groups: stored.groups.filter(({ id, managed_by }) => managed_by === 'file' && !Object.hasOwn(wished.groups, id)),
    policies: stored.policies.filter(({ id, managed_by }) => managed_by === 'file' && !Object.hasOwn(wished.policies, id)),
  };
  const kept = {
    sources: stored.sources.filter((source) => !deletions.sources.includes(source)),
    groups: stored.groups.filter((group) => !deletions.groups.includes(group) && !Object.hasOwn(wished.groups, group.id)),
    policies: stored.policies.filter((policy) => !deletions.policies.includes(policy) && !Object.hasOwn(wished.policies, policy.id)),
  };
  refuseNeededDeletions(deletions.groups, kept.policies);

  const sources = await plannedSources(wished.sources, stored.sources, scopeOf);
  const pending = new Set(sources.filter(({ known }) => known === undefined).map(({ form }) => form.namespace ?? ''));
  const nameOf = (toolId: string) => inventory.find(toolId)?.name ?? toolId;
  const groups = await plannedGroups(wished.groups, { nouns: store, stored: stored.groups, sources: kept.sources, pending, nameOf });
  const groupIds = new Set([...kept.groups, ...groups].map(({ id }) => id));
  const policies = await plannedPolicies(wished.policies, { stored: stored.policies, groups: groupIds });

  const changes = [
    ...[...sources, ...groups, ...policies].flatMap(({ change }) => (change === null ? [] : [change])),
    ...deletions.policies.map(({ id }) => deletion('policy', id)),
    ...deletions.groups.map(({ id }) => deletion('group', id)),
    ...deletions.sources.map(({ namespace }) => deletion('source', namespace)),
  ];
  const keptIds = new Set(kept.sources.map(({ id }) => id));
  const tools = inventory.snapshot.tools.filter(({ source_id }) => keptIds.has(source_id));
  const rules = compileRules({
    policies: [...kept.policies, ...policies.map(({ id, input }) => ({ ...input, ...stamp(id) }))],
    groups: [...kept.groups, ...groups.map(({ id, input }) => ({ ...input, ...stamp(id) }))],
    revision: 0,
    development,
    warn: () => undefined,
  });
  const undiscovered = sources
    .filter(({ form, known }) => form.enabled && !tools.some(({ source_id }) => source_id === known?.id))
    .map(({ form }) => form.namespace ?? '');
  const tests = runPolicyTests(wished.tests, { rules, tools, undiscovered });
  const fingerprint = hash('sha256', canonicalJson(changes), 'base64url');
  return { fingerprint, changes, tests, sources, groups, policies, deletions };
}

function deletion(kind: PlannedChange['kind'], id: string): PlannedChange {
  return { kind, id, action: 'delete', fields: [] };
}

/** The fields that a stored group or policy has and the file does not. */
function stamp(id: string) {
  return { id, managed_by: 'file' as const, created_at: 0, updated_at: 0 };
}

function refuseNeededDeletions(groups: readonly Group[], kept: readonly Policy[]): void {
  for (const group of groups) {
    const user = kept.find((policy) => policy.groups.includes(group.id));
    if (user === undefined) continue;
    const message = `The group ${group.id} is no longer in the file, but the policy ${user.id}, which the file does not manage, still grants it: change that policy, or keep the group`;
    throw new CribError('CONFLICT', message, { field: `groups.${group.id}` });
  }
}
