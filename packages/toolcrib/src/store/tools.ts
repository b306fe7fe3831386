import type { Selectable } from 'kysely';
import { CribError } from '../model/crib-error.ts';
import { toolOverridesSchema, type DiscoveredTool, type PinnedDefinition, type ToolOverrides, type ToolRecord } from '../model/tool.ts';
import { nameConflicts } from './name-conflicts.ts';
import { plainText } from './stored-values.ts';
import { readJson, readRow, readStored } from './read-row.ts';
import type { Queries, Tables } from './tables.ts';

export type Tools = ReturnType<typeof createTools>;
type Row = Selectable<Tables['tools']>;

/** A tool without what only administrators look at, and with its definition as text: there may be a hundred thousand of them. */
export interface StoredTool extends Pick<
  ToolRecord,
  'tool_id' | 'source_id' | 'definition_hash' | 'state' | 'approved_hash' | 'overrides'
> {
  /** The tool's own name within its source. */
  name: string;
  /** As JSON; `readDiscovered` reads it. */
  discovered: string;
}

const storedColumns = ['tool_id', 'source_id', 'name', 'discovered', 'definition_hash', 'state', 'approved_hash', 'overrides'] as const;
/** Few enough that all of a page together takes little memory. */
const rowsPerPage = 1000;
const noOverrides: ToolOverrides = {};

/** Both databases limit the parameters of one statement. */
const rowsPerStatement = 500;

export function createTools(queries: Queries) {
  const select = queries.selectFrom('tools').selectAll();
  const selectStored = queries.selectFrom('tools').select(storedColumns);
  return {
    /** All tools, or those of a source, page by page. */
    async *pages(sourceId?: string): AsyncGenerator<StoredTool[]> {
      for (let after = '', isLast = false; !isLast;) {
        let query = selectStored.where('tool_id', '>', after);
        if (sourceId !== undefined) query = query.where('source_id', '=', sourceId);
        const rows = await query.orderBy('tool_id').limit(rowsPerPage).execute();
        isLast = rows.length < rowsPerPage;
        after = rows.at(-1)?.tool_id ?? after;
        yield rows.map(readStoredTool);
      }
    },

    async getStored(toolId: string): Promise<StoredTool | undefined> {
      const row = await selectStored.where('tool_id', '=', toolId).executeTakeFirst();
      return row && readStoredTool(row);
    },

    async list(): Promise<ToolRecord[]> {
      return (await select.orderBy('source_id').orderBy('name').execute()).map(read);
    },

    async listBySource(sourceId: string): Promise<ToolRecord[]> {
      return (await select.where('source_id', '=', sourceId).orderBy('name').execute()).map(read);
    },

    async get(toolId: string): Promise<ToolRecord | undefined> {
      const row = await select.where('tool_id', '=', toolId).executeTakeFirst();
      return row && read(row);
    },

    /**
     * Stores what a discovery found and returns it as stored: a tool that is there already (same source, same name) keeps its id, its
     * first date and the administrator's overrides [INV-5], so two servers that discover the same source do not disagree.
     */
    async upsertMany(records: readonly ToolRecord[]): Promise<ToolRecord[]> {
      const rows = records.map(write);
      refuseRepeats(rows);
      const upsertAll = async (queries: Queries) => {
        const stored: Row[] = [];
        for (let start = 0; start < rows.length; start += rowsPerStatement) {
          stored.push(...(await upsert(queries, rows.slice(start, start + rowsPerStatement))));
        }
        return stored.map(read);
      };
      return queries.isTransaction ? upsertAll(queries) : queries.transaction().execute(upsertAll);
    },

    async setOverrides(toolId: string, overrides: ToolOverrides, updatedAt: number): Promise<boolean> {
      const set = { overrides: JSON.stringify(overrides), updated_at: updatedAt };
      const { numUpdatedRows } = await queries.updateTable('tools').set(set).where('tool_id', '=', toolId).executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async setState(toolId: string, state: ToolRecord['state'], updatedAt: number): Promise<boolean> {
      const update = queries.updateTable('tools').set({ state, updated_at: updatedAt });
      const { numUpdatedRows } = await update.where('tool_id', '=', toolId).executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

async function upsert(queries: Queries, rows: Row[]): Promise<Row[]> {
  const insert = queries.insertInto('tools').values(rows);
  const statement = insert.onConflict((conflict) =>
    conflict.columns(['source_id', 'name']).doUpdateSet((values) => ({
      discovered: values.ref('excluded.discovered'),
      definition_hash: values.ref('excluded.definition_hash'),
      state: values.ref('excluded.state'),
      approved_hash: values.ref('excluded.approved_hash'),
      approved: values.ref('excluded.approved'),
      updated_at: values.ref('excluded.updated_at'),
    })),
  );
  return nameConflicts(statement.returningAll().execute());
}

/** PostgreSQL refuses to write a row twice in one statement, SQLite lets the last one win: neither is what the source meant. */
function refuseRepeats(rows: Row[]): void {
  const seen = new Set<string>();
  for (const { source_id, name } of rows) {
    const key = JSON.stringify([source_id, plainText(name)]);
    if (seen.has(key)) throw new CribError('CONFLICT', `The source has two tools named ${name}. Rename one of them, or exclude it.`);
    seen.add(key);
  }
}

function write(record: ToolRecord): Row {
  const { tool_id, source_id, definition_hash, state, approved_hash, approved, created_at, updated_at } = record;
  const { name } = record.discovered.definition;
  const discovered = JSON.stringify(record.discovered);
  return {
    tool_id,
    source_id,
    name,
    discovered,
    definition_hash,
    state,
    approved_hash,
    approved: approved === null ? null : JSON.stringify(approved),
    overrides: JSON.stringify(record.overrides),
    created_at,
    updated_at,
  };
}

function readStoredTool(row: Pick<Row, (typeof storedColumns)[number]>): StoredTool {
  // The row is nobody else's: a copy of a hundred thousand would be felt.
  return Object.assign(row, { overrides: row.overrides === '{}' ? noOverrides : readOverrides(row) });
}

export function readDiscovered(toolId: string, text: string): DiscoveredTool {
  return readStored('tools', toolId, (): DiscoveredTool => JSON.parse(text));
}

function readOverrides({ tool_id, overrides }: Pick<Row, 'tool_id' | 'overrides'>): ToolOverrides {
  return readRow(toolOverridesSchema, 'tools', tool_id, readJson('tools', tool_id, overrides));
}

function read({ name: _name, ...row }: Row): ToolRecord {
  const discovered = readDiscovered(row.tool_id, row.discovered);
  const approved = readStored('tools', row.tool_id, (): PinnedDefinition | null => JSON.parse(row.approved ?? 'null'));
  return { ...row, discovered, approved, overrides: readOverrides(row) };
}
