import { z } from 'zod';
import { nameConflicts } from './name-conflicts.ts';
import { readJson, readRow } from './read-row.ts';
import type { Queries } from './tables.ts';

/** What the store knows about the document of a source. */
export interface DocumentRecord {
  /** Of the text that was imported last; null while none was. */
  sha256: string | null;
  /** [SEC-1] Where its secrets may go; null while no import has named any. */
  origins: string[] | null;
  /** The report of the last import; null while there was none. */
  imported: unknown;
  updated_at: number;
}

/** What an import leaves. */
export type ImportMemory = Pick<DocumentRecord, 'sha256' | 'origins' | 'imported'>;

export type Documents = ReturnType<typeof createDocuments>;

const originsSchema = z.array(z.string()).nullable();

export function createDocuments(queries: Queries) {
  const of = (sourceId: string) => queries.selectFrom('documents').where('source_id', '=', sourceId);
  return {
    async get(sourceId: string): Promise<DocumentRecord | undefined> {
      const row = await of(sourceId).select(['sha256', 'origins', 'imported', 'updated_at']).executeTakeFirst();
      if (row === undefined) return undefined;
      const parse = (text: string | null) => (text === null ? null : readJson('documents', sourceId, text));
      const origins = readRow(originsSchema, 'documents', sourceId, parse(row.origins));
      return { ...row, origins, imported: parse(row.imported) };
    },

    async textOf(sourceId: string): Promise<string | undefined> {
      return (await of(sourceId).select('text').executeTakeFirst())?.text ?? undefined;
    },

    /** A document that nothing is known of yet: what an earlier one came to is forgotten. */
    async begin(sourceId: string, text: string | null, updatedAt: number): Promise<void> {
      const row = { source_id: sourceId, sha256: null, origins: null, imported: null, updated_at: updatedAt, text };
      const { source_id: _id, ...changed } = row;
      const insert = queries.insertInto('documents').values(row);
      await nameConflicts(insert.onConflict((conflict) => conflict.column('source_id').doUpdateSet(changed)).execute());
    },

    /** Another text in its place, of which as much is known as of the one before. */
    async setText(sourceId: string, text: string | null): Promise<void> {
      await queries.updateTable('documents').set({ text }).where('source_id', '=', sourceId).execute();
    },

    /**
     * False where the document, or the definition that it was imported for, has become another since: what an import of the old one came to
     * says nothing of it.
     */
    async remember(sourceId: string, memory: ImportMemory, { since, definedAt, now }: Moments): Promise<boolean> {
      const set = {
        sha256: memory.sha256,
        origins: memory.origins === null ? null : JSON.stringify(memory.origins),
        imported: JSON.stringify(memory.imported),
        updated_at: Math.max(now, since + 1),
      };
      const update = queries.updateTable('documents').set(set).where('source_id', '=', sourceId).where('updated_at', '=', since);
      const current = queries.selectFrom('sources').select('id').where('id', '=', sourceId).where('updated_at', '=', definedAt);
      return (await update.where(({ exists }) => exists(current)).executeTakeFirst()).numUpdatedRows > 0n;
    },
  };
}

interface Moments {
  /** When the document was last changed or imported, as the import found it. */
  since: number;
  /** When the source was last changed. */
  definedAt: number;
  now: number;
}
