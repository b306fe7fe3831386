import { randomUUID } from 'node:crypto';
import { CribError } from '../model/crib-error.ts';
import type { ManagedBy } from '../model/managed-by.ts';
import type { Group, GroupInput } from '../model/policy.ts';
import type { Principal } from '../model/principal.ts';
import { compileGroup } from '../policy/group-membership.ts';
import type { Store, StoreNouns } from '../store/store.ts';
import type { MakeChange } from './change-log.ts';
import { laterThan } from './later-than.ts';
import { isSameRow } from './is-same-row.ts';
import { refuseOvertaken, type Seen } from './refuse-overtaken.ts';
import { resolveToolReferences } from './tool-references.ts';

export interface GroupAdministration {
  list(): Promise<Group[]>;
  /** Throws `NOT_FOUND` if there is no such group. */
  get(id: string): Promise<Group>;
  create(actor: Principal, input: GroupInput & { id?: string; managed_by?: ManagedBy }): Promise<Group>;
  update(actor: Principal, id: string, input: GroupInput & { managed_by?: ManagedBy }, options?: Seen): Promise<Group>;
  delete(actor: Principal, id: string, options?: Seen): Promise<void>;
}

export function createGroupAdministration({ store, change }: { store: Store; change: MakeChange }): GroupAdministration {
  return {
    list: () => store.groups.list(),
    get: (id) => existing(store, id),
    async create(actor, { id = randomUUID(), managed_by = null, ...input }) {
      refuseBadExpressions(input);
      return change(actor, { kind: 'group-created', topic: 'group', subject: id }, async (tx) => {
        const now = Date.now();
        const group: Group = { id, ...(await withToolIds(tx, input)), managed_by, created_at: now, updated_at: now };
        await tx.groups.insert(group);
        return { before: null, after: group };
      });
    },
    async update(actor, id, input, options = {}) {
      refuseBadExpressions(input);
      return change(actor, { kind: 'group-changed', topic: 'group', subject: id }, async (tx) => {
        const before = await existing(tx, id);
        refuseOvertaken(before, options);
        const group: Group = { ...before, ...(await withToolIds(tx, input)), updated_at: laterThan(before) };
        if (isSameRow(before, group)) return { before, after: before, isSame: true };
        await tx.groups.update(group);
        return { before, after: group };
      });
    },
    async delete(actor, id, options = {}) {
      await change(actor, { kind: 'group-deleted', topic: 'group', subject: id }, async (tx) => {
        const before = await existing(tx, id);
        refuseOvertaken(before, options);
        const users = (await tx.policies.list()).filter((policy) => policy.groups.includes(id));
        if (users.length > 0) {
          const names = users.map((policy) => policy.id).join(', ');
          throw new CribError('CONFLICT', `These policies still grant the group: ${names}. Remove the group from them first`);
        }
        await tx.groups.delete(id);
        return { before, after: null };
      });
    },
  };
}

async function existing(tx: StoreNouns, id: string): Promise<Group> {
  const group = await tx.groups.get(id);
  if (group === undefined) throw new CribError('NOT_FOUND', 'There is no such group');
  return group;
}

async function withToolIds<Input extends GroupInput>(tx: StoreNouns, input: Input): Promise<Input> {
  const include = await resolveToolReferences(tx, input.include, 'include');
  const exclude = await resolveToolReferences(tx, input.exclude, 'exclude');
  return { ...input, include, exclude };
}

export function refuseBadExpressions(input: GroupInput): void {
  try {
    compileGroup(input);
  } catch (error) {
    throw new CribError('VALIDATION_ERROR', `A selector's expression is not valid RE2: ${(error as Error).message}`, {
      field: 'selectors',
    });
  }
}
