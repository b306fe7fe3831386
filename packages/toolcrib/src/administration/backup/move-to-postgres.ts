import { existsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseHead, type AuditVerdict } from '../../model/audit.ts';
import { CribError } from '../../model/crib-error.ts';
import { openKeyRing } from '../../secrets/open-key-ring.ts';
import { copySqlite } from '../../store/copy-sqlite.ts';
import { copyTables, type CopiedRows } from '../../store/copy-tables.ts';
import type { SqliteDatabase } from '../../store/database.ts';
import { lockDataDirectory } from '../../store/lock-data-directory.ts';
import { openPostgres } from '../../store/open-postgres.ts';
import { openSqlite } from '../../store/open-sqlite.ts';
import { serverId } from '../../store/server-id.ts';
import { checkKeys } from './check-keys.ts';
import { bringIn } from './settle-journal.ts';

interface MoveInput {
  dataDir: string;
  databaseUrl: string;
  /** The value of TOOLCRIB_KEYS. */
  keys: string | undefined;
  warn(message: string): void;
}

export interface Moved {
  rows: CopiedRows;
  /** Verifies the audit record as copied to PostgreSQL. */
  verdict: AuditVerdict;
}

/**
 * Copies the SQLite database of a data folder into an empty PostgreSQL database. Works on a copy of the file, so that an older schema is
 * migrated there and the data folder stays as it is.
 */
export async function moveToPostgres({ dataDir, databaseUrl, keys, warn }: MoveInput): Promise<Moved> {
  const file = join(dataDir, 'toolcrib.db');
  // Opening a missing database would create one, in a folder named by mistake.
  if (!existsSync(file)) throw new CribError('NOT_FOUND', `There is no database ${file}: name its folder with --data`);
  using _lock = lockDataDirectory(dataDir);
  const keyRing = openKeyRing({ ...(keys !== undefined && { keys }), dataDir, create: false });
  const copy = join(dataDir, `moving-${process.pid}.db`);
  try {
    await (await open(copy, 'wx', 0o600)).close();
    await bringIn({ dataDir, keys, warn });
    const { heads } = await copySqlite(file, copy);
    await using from = await openSqlite(copy);
    await refuseUnfinished(from);
    await checkKeys(from, keyRing, { warn });
    await using to = await openPostgres(databaseUrl);
    const rows = await copyTables(from, to, { server: serverId(dataDir) });
    const verdict = await checkKeys(to, keyRing, { expected: heads.map(parseHead), warn });
    return { rows, verdict };
  } finally {
    for (const left of ['', '-wal', '-shm', '-journal']) await rm(`${copy}${left}`, { force: true });
  }
}

/** [OPS-2] PostgreSQL uses a different engine for durable calls, which cannot resume calls begun with SQLite. */
async function refuseUnfinished({ kysely }: SqliteDatabase): Promise<void> {
  const jobs = await kysely.selectFrom('durable_jobs').select('id').execute();
  if (jobs.length === 0) return;
  const message = `${jobs.length} long-running ${jobs.length === 1 ? 'call has' : 'calls have'} not ended. Start the server on this data folder once more, wait until \`GET /api/calls?status=running\` lists none, stop the server, and run this command again`;
  throw new CribError('CONFLICT', message);
}
