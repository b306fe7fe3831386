import { backup, DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import { formatHead } from '../model/audit.ts';
import { CribError } from '../model/crib-error.ts';
import { latestHeads } from './audit/open-chain.ts';
import { checkPages } from './check-pages.ts';
import { migrationTable } from './migrate-to-latest.ts';
import { NodeSqliteDialect } from './node-sqlite-dialect.ts';
import type { Tables } from './tables.ts';

/** Describes a copy, so that a later check can tell whether it is whole. */
export interface CopyFacts {
  /** The last step of the schema. */
  migration: string;
  /** How far the record had come. */
  heads: string[];
}

/** All pages in one step: the copy is of one moment, and a server that writes meanwhile does not make it begin again. */
const allPages = 2 ** 31 - 1;

/** Copies a database that may be in use by another process, which is not held up, and checks every page of the copy. */
export async function copySqlite(from: string, to: string): Promise<CopyFacts> {
  const source = new DatabaseSync(from, { readOnly: true, timeout: 10_000 });
  try {
    await backup(source, to, { rate: allPages });
  } finally {
    source.close();
  }
  const copy = new DatabaseSync(to);
  const kysely = new Kysely<Tables>({ dialect: new NodeSqliteDialect(copy) });
  try {
    // Everything in the one file, with no log beside it.
    copy.exec('pragma journal_mode = delete');
    checkPages(copy, from, { thoroughly: true });
    const { rows } = await sql<{ name: string }>`select max(name) as name from ${sql.table(migrationTable)}`.execute(kysely);
    return { migration: rows[0]?.name ?? '', heads: (await latestHeads(kysely)).map(formatHead) };
  } catch (error) {
    if (error instanceof CribError) throw error;
    throw new CribError('VALIDATION_ERROR', `The file ${from} is not a database of Toolcrib: ${String(error)}`, { cause: error });
  } finally {
    await kysely.destroy();
  }
}
