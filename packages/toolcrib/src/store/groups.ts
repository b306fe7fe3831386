import type { Selectable } from 'kysely';
import { groupSchema, type Group } from '../model/policy.ts';
import { nameConflicts } from './name-conflicts.ts';
import { readJson, readRow } from './read-row.ts';
import type { Queries, Tables } from './tables.ts';

export type Groups = ReturnType<typeof createGroups>;
type Row = Selectable<Tables['groups']>;

export function createGroups(queries: Queries) {
  return {
    async list(): Promise<Group[]> {
      return (await queries.selectFrom('groups').selectAll().orderBy('id').execute()).map(read);
    },

    async get(id: string): Promise<Group | undefined> {
      const row = await queries.selectFrom('groups').selectAll().where('id', '=', id).executeTakeFirst();
      return row && read(row);
    },

    async insert(group: Group): Promise<void> {
      await nameConflicts(queries.insertInto('groups').values(write(group)).execute());
    },

    async update(group: Group): Promise<boolean> {
      const { id, created_at: _createdAt, ...changed } = write(group);
      const { numUpdatedRows } = await queries.updateTable('groups').set(changed).where('id', '=', id).executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async delete(id: string): Promise<boolean> {
      const { numDeletedRows } = await queries.deleteFrom('groups').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

function write({ id, name, description, selectors, include, exclude, managed_by, created_at, updated_at }: Group): Row {
  const lists = { selectors: JSON.stringify(selectors), include: JSON.stringify(include), exclude: JSON.stringify(exclude) };
  return { id, name, description, ...lists, managed_by, created_at, updated_at };
}

function read(row: Row): Group {
  const list = (column: 'selectors' | 'include' | 'exclude') => readJson('groups', row.id, row[column]);
  return readRow(groupSchema, 'groups', row.id, {
    ...row,
    selectors: list('selectors'),
    include: list('include'),
    exclude: list('exclude'),
  });
}
