import { CribError } from '../model/crib-error.ts';
import type { Database } from './database.ts';
import { openPostgres } from './open-postgres.ts';
import { openSqlite } from './open-sqlite.ts';

/** Opens PostgreSQL where a URL is given, the SQLite file otherwise, and brings the schema up to date. */
export async function openDatabase({ url, file }: { url?: string; file?: string }): Promise<Database> {
  if (url !== undefined) return openPostgres(url);
  if (file !== undefined) return openSqlite(file);
  throw new CribError('VALIDATION_ERROR', 'No database is named: give the file of a SQLite database or the URL of a PostgreSQL one');
}
