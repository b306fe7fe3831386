import type { Selectable } from 'kysely';
import { z } from 'zod';
import { sourceDefinitionSchema } from '../model/source-definition.ts';
import type { SourceRecord } from '../model/source.ts';
import { nameConflicts } from './name-conflicts.ts';
import { readJson, readRow } from './read-row.ts';
import type { Queries, Tables } from './tables.ts';

export type Sources = ReturnType<typeof createSources>;

/** What definitions of this type of source are read with. */
export type DefinitionOf = (sourceType: string) => z.ZodType;

export function createSources(queries: Queries, definitionOf?: DefinitionOf) {
  const read = (row: Selectable<Tables['sources']>) => readSource(row, definitionOf);
  return {
    async list(): Promise<SourceRecord[]> {
      return (await queries.selectFrom('sources').selectAll().orderBy('namespace').execute()).map(read);
    },

    async get(id: string): Promise<SourceRecord | undefined> {
      const row = await queries.selectFrom('sources').selectAll().where('id', '=', id).executeTakeFirst();
      return row && read(row);
    },

    /** A namespace that belongs to another source is a `CONFLICT` [NAME-2]. */
    async upsert(source: SourceRecord): Promise<void> {
      const { id, name, namespace, source_type, managed_by, created_at, updated_at } = source;
      const definition = JSON.stringify(source.definition);
      const registration = source.registration === undefined ? null : JSON.stringify(source.registration);
      const named = { id, name, namespace, source_type, enabled: source.enabled ? 1 : 0 };
      const row = { ...named, definition, registration, managed_by, created_at, updated_at };
      const { id: _id, created_at: _createdAt, ...changed } = row;
      const insert = queries.insertInto('sources').values(row);
      await nameConflicts(insert.onConflict((conflict) => conflict.column('id').doUpdateSet(changed)).execute());
    },

    /** Takes the source's tools along. */
    async delete(id: string): Promise<boolean> {
      const { numDeletedRows } = await queries.deleteFrom('sources').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

/** What the definition of any source has; its kind knows the rest. */
const anyDefinition = z.looseObject(sourceDefinitionSchema.shape).nullable();

function readSource({ registration: given, ...row }: Selectable<Tables['sources']>, definitionOf: DefinitionOf | undefined): SourceRecord {
  const schema = definitionOf?.(row.source_type) ?? anyDefinition;
  const definition = readRow(schema, 'sources', row.id, readJson('sources', row.id, row.definition));
  const registration = given === null ? {} : { registration: readJson('sources', row.id, given) };
  return { ...row, ...registration, enabled: row.enabled === 1, definition } as SourceRecord;
}
