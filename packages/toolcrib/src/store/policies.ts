import type { Selectable } from 'kysely';
import { policySchema, type Policy } from '../model/policy.ts';
import { nameConflicts } from './name-conflicts.ts';
import { readJson, readRow } from './read-row.ts';
import type { Queries, Tables } from './tables.ts';

export type Policies = ReturnType<typeof createPolicies>;
type Row = Selectable<Tables['policies']>;

export function createPolicies(queries: Queries) {
  return {
    async list(): Promise<Policy[]> {
      return (await queries.selectFrom('policies').selectAll().orderBy('id').execute()).map(read);
    },

    async get(id: string): Promise<Policy | undefined> {
      const row = await queries.selectFrom('policies').selectAll().where('id', '=', id).executeTakeFirst();
      return row && read(row);
    },

    async insert(policy: Policy): Promise<void> {
      await nameConflicts(queries.insertInto('policies').values(write(policy)).execute());
    },

    async update(policy: Policy): Promise<boolean> {
      const { id, created_at: _createdAt, ...changed } = write(policy);
      const { numUpdatedRows } = await queries.updateTable('policies').set(changed).where('id', '=', id).executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async delete(id: string): Promise<boolean> {
      const { numDeletedRows } = await queries.deleteFrom('policies').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

function write({ id, name, description, enabled, matchers, groups, managed_by, created_at, updated_at }: Policy): Row {
  const lists = { matchers: JSON.stringify(matchers), groups: JSON.stringify(groups) };
  return { id, name, description, enabled: enabled ? 1 : 0, ...lists, managed_by, created_at, updated_at };
}

function read(row: Row): Policy {
  return readRow(policySchema, 'policies', row.id, {
    ...row,
    enabled: row.enabled === 1,
    matchers: readJson('policies', row.id, row.matchers),
    groups: readJson('policies', row.id, row.groups),
  });
}
