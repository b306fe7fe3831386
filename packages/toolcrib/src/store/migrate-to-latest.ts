import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { CribError } from '../model/crib-error.ts';
import type { DialectName } from './database.ts';
import { migrations } from './migrations/migrations.ts';
import type { Queries } from './tables.ts';

export const migrationTable = 'toolcrib_migrations';

/** Brings the schema up to date. Servers that start together wait for each other; a migration that fails leaves nothing behind. */
export async function migrateToLatest(kysely: Queries, dialect: DialectName, place: string): Promise<void> {
  const known = migrations(dialect);
  await refuseNewer(kysely, Object.keys(known), place);
  const migrator = new Migrator({
    db: kysely,
    provider: { getMigrations: async () => known },
    migrationTableName: migrationTable,
    migrationLockTableName: `${migrationTable}_lock`,
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((result) => result.status === 'Error');
  // Without a failed step it never got that far: the connection, the file or the rights are at fault, and the caller knows which.
  if (failed === undefined) throw error;
  const reason = error instanceof Error ? error.message : 'no reason was given';
  throw new CribError(
    'INTERNAL',
    `${place} could not be brought up to date (step ${failed.migrationName}): ${reason}. It was left as it was.`,
    {
      cause: error,
    },
  );
}

async function refuseNewer(kysely: Queries, known: string[], place: string): Promise<void> {
  const tables = await kysely.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === migrationTable)) return;
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(migrationTable)}`.execute(kysely);
  const unknown = rows.find(({ name }) => !known.includes(name));
  if (unknown === undefined) return;
  throw new CribError(
    'CONFLICT',
    `${place} was made by a newer Toolcrib (it has ${unknown.name}). Run that version or a later one, or restore a backup from before the upgrade.`,
  );
}
