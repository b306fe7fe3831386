import { CribError } from '../../model/crib-error.ts';
import type { Group, GroupInput, Policy, PolicyInput } from '../../model/policy.ts';
import type { SourceRecord } from '../../model/source.ts';
import type { StoreNouns } from '../../store/store.ts';
import { refuseBadExpressions as refuseBadSelectors } from '../groups.ts';
import { refuseBadExpressions as refuseBadMatchers } from '../policies.ts';
import { resolveToolReferences } from '../tool-references.ts';
import { fieldDifferences, type FieldDifference } from './field-differences.ts';
import type { PlannedChange } from './plan.ts';
import { withFieldPrefix } from './with-field-prefix.ts';
import type { WishedState } from './wished-state.ts';

/** A group or policy as the file wants it, and the change that takes. */
export interface PlannedRule<Input> {
  id: string;
  input: Input;
  change: PlannedChange | null;
  /** `updated_at` of the stored object to replace; undefined if there is none. */
  seen: number | undefined;
}

interface GroupScope {
  nouns: StoreNouns;
  stored: readonly Group[];
  /** The sources that remain after the plan. */
  sources: readonly SourceRecord[];
  /** Namespaces of the sources that the plan creates. */
  pending: ReadonlySet<string>;
  /** The name of a tool, by its id. */
  nameOf(toolId: string): string;
}

/** Resolves the tools that groups name to ids, except for tools of sources that are yet to be created. */
export async function plannedGroups(
  wished: WishedState['groups'],
  { nouns, stored, sources, pending, nameOf }: GroupScope,
): Promise<PlannedRule<GroupInput>[]> {
  const planned: PlannedRule<GroupInput>[] = [];
  for (const [id, group] of Object.entries(wished)) {
    const input = await withFieldPrefix(`groups.${id}`, async () => {
      refuseBadSelectors({ ...group, name: id });
      const include = await resolveToolReferences(nouns, group.include, 'include', { sources, pending });
      const exclude = await resolveToolReferences(nouns, group.exclude, 'exclude', { sources, pending });
      return { ...group, name: group.name ?? id, include, exclude };
    });
    const known = stored.find((one) => one.id === id);
    const change = changeOf('group', id, input, known);
    const fields = change?.fields.map((field) => named(field, nameOf)) ?? [];
    planned.push({ id, input, change: change && { ...change, fields }, seen: known?.updated_at });
  }
  return planned;
}

interface PolicyScope {
  stored: readonly Policy[];
  /** The ids of all groups that exist after the plan. */
  groups: ReadonlySet<string>;
}

export async function plannedPolicies(
  wished: WishedState['policies'],
  { stored, groups }: PolicyScope,
): Promise<PlannedRule<PolicyInput>[]> {
  const planned: PlannedRule<PolicyInput>[] = [];
  for (const [id, policy] of Object.entries(wished)) {
    const input = { ...policy, name: policy.name ?? id };
    await withFieldPrefix(`policies.${id}`, () => {
      refuseBadMatchers(input);
      const unknown = input.groups.findIndex((group) => !groups.has(group));
      if (unknown < 0) return;
      const message = `There is no group ${input.groups[unknown]}, neither in the file nor on the server`;
      throw new CribError('VALIDATION_ERROR', message, { field: `groups.${unknown}` });
    });
    const known = stored.find((one) => one.id === id);
    planned.push({ id, input, change: changeOf('policy', id, input, known), seen: known?.updated_at });
  }
  return planned;
}

function changeOf(
  kind: 'group' | 'policy',
  id: string,
  input: GroupInput | PolicyInput,
  known: Group | Policy | undefined,
): PlannedChange | null {
  if (known === undefined) return { kind, id, action: 'create', fields: fieldDifferences({}, withoutDefaults(input)) };
  const { id: _id, managed_by, created_at: _created, updated_at: _updated, ...before } = known;
  const fields = fieldDifferences(before, input);
  if (managed_by !== 'file') return { kind, id, action: 'adopt', fields };
  return fields.length === 0 ? null : { kind, id, action: 'change', fields };
}

/** Shows tools by name: groups store ids, which mean nothing to people. */
function named({ field, before, after }: FieldDifference, nameOf: (toolId: string) => string): FieldDifference {
  if (field !== 'include' && field !== 'exclude') return { field, before, after };
  const names = (ids: unknown) => (Array.isArray(ids) ? ids.map((id) => nameOf(String(id))) : ids);
  return { field, before: names(before), after: names(after) };
}

/** Empty texts and lists are defaults, not worth showing for a new object. */
function withoutDefaults(input: object): object {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0)));
}
