import { randomUUID } from 'node:crypto';
import { CribError } from '../model/crib-error.ts';
import type { ManagedBy } from '../model/managed-by.ts';
import type { Policy, PolicyInput } from '../model/policy.ts';
import type { Principal } from '../model/principal.ts';
import { compileMatcher } from '../policy/matcher.ts';
import type { Store, StoreNouns } from '../store/store.ts';
import type { MakeChange } from './change-log.ts';
import { laterThan } from './later-than.ts';
import { isSameRow } from './is-same-row.ts';
import { refuseOvertaken, type Seen } from './refuse-overtaken.ts';

export interface PolicyAdministration {
  list(): Promise<Policy[]>;
  /** Throws `NOT_FOUND` if there is no such policy. */
  get(id: string): Promise<Policy>;
  create(actor: Principal, input: PolicyInput & { id?: string; managed_by?: ManagedBy }): Promise<Policy>;
  update(actor: Principal, id: string, input: PolicyInput & { managed_by?: ManagedBy }, options?: Seen): Promise<Policy>;
  delete(actor: Principal, id: string, options?: Seen): Promise<void>;
}

interface PolicyAdministrationInput {
  store: Store;
  change: MakeChange;
  /** True if the only issuer is our own. Policies saved then apply in development only, until they are saved again in production. */
  development: boolean;
}

export function createPolicyAdministration({ store, change, development }: PolicyAdministrationInput): PolicyAdministration {
  const saved = development ? 'development' : null;
  return {
    list: () => store.policies.list(),
    get: (id) => existing(store, id),
    async create(actor, { id = randomUUID(), managed_by = saved, ...input }) {
      refuseBadExpressions(input);
      return change(actor, { kind: 'policy-created', topic: 'policy', subject: id }, async (tx) => {
        const now = Date.now();
        const policy: Policy = { id, ...input, managed_by, created_at: now, updated_at: now };
        await refuseUnknownGroups(tx, policy);
        await tx.policies.insert(policy);
        return { before: null, after: policy };
      });
    },
    async update(actor, id, input, options = {}) {
      refuseBadExpressions(input);
      return change(actor, { kind: 'policy-changed', topic: 'policy', subject: id }, async (tx) => {
        const before = await existing(tx, id);
        refuseOvertaken(before, options);
        const managed_by = before.managed_by === 'file' ? 'file' : saved;
        const policy: Policy = { ...before, managed_by, ...input, updated_at: laterThan(before) };
        if (isSameRow(before, policy)) return { before, after: before, isSame: true };
        await refuseUnknownGroups(tx, policy);
        await tx.policies.update(policy);
        return { before, after: policy };
      });
    },
    async delete(actor, id, options = {}) {
      await change(actor, { kind: 'policy-deleted', topic: 'policy', subject: id }, async (tx) => {
        const before = await existing(tx, id);
        refuseOvertaken(before, options);
        await tx.policies.delete(id);
        return { before, after: null };
      });
    },
  };
}

async function existing(tx: StoreNouns, id: string): Promise<Policy> {
  const policy = await tx.policies.get(id);
  if (policy === undefined) throw new CribError('NOT_FOUND', 'There is no such policy');
  return policy;
}

export function refuseBadExpressions(input: PolicyInput): void {
  for (const [index, matcher] of input.matchers.entries()) {
    try {
      compileMatcher(matcher);
    } catch (error) {
      const field = `matchers.${index}.value`;
      throw new CribError('VALIDATION_ERROR', `${field} is not valid RE2: ${(error as Error).message}`, { field });
    }
  }
}

async function refuseUnknownGroups(tx: StoreNouns, policy: Policy): Promise<void> {
  const known = new Set((await tx.groups.list()).map((group) => group.id));
  const unknown = policy.groups.findIndex((id) => !known.has(id));
  if (unknown >= 0) {
    const field = `groups.${unknown}`;
    throw new CribError('VALIDATION_ERROR', `There is no group ${policy.groups[unknown]}: create it first`, { field });
  }
}
