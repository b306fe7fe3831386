import { closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { CribError } from '../model/crib-error.ts';
import { checkPages } from './check-pages.ts';
import type { SqliteDatabase } from './database.ts';
import { makeFolder } from './make-folder.ts';
import { migrateToLatest } from './migrate-to-latest.ts';
import { NodeSqliteDialect } from './node-sqlite-dialect.ts';
import { sqliteResultCodes, sqliteErrorCode } from './sqlite-error-code.ts';
import type { Tables } from './tables.ts';

const busyTimeoutMs = 5000;
/** Of 4 KiB. The last pages of the record are written with every batch, and copied into the file only once where the log may be long. */
const pagesOfLog = 4000;

/** Reading all of a larger file would keep a server from starting: `toolcrib doctor` does that. */
const quicklyCheckedBytes = 268_435_456;

export async function openSqlite(file: string, { thoroughly = false } = {}): Promise<SqliteDatabase> {
  let connection: DatabaseSync | undefined;
  try {
    if (file !== ':memory:') makeFile(file);
    connection = connect(file);
    // A damaged page is found here, and not in the middle of a call that was acknowledged.
    if (file !== ':memory:' && (thoroughly || statSync(file).size <= quicklyCheckedBytes)) checkPages(connection, file, { thoroughly });
    const kysely = new Kysely<Tables>({ dialect: new NodeSqliteDialect(connection) });
    await migrateToLatest(kysely, 'sqlite', `The database file ${file}`);
    const close = () => kysely.destroy();
    return { dialect: 'sqlite', kysely, connection, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    connection?.close();
    throw error instanceof CribError ? error : cannotOpen(file, error);
  }
}

/** A further connection to a database that is open already, for another thread. */
export function connectSqlite(file: string): SqliteDatabase {
  const connection = connect(file);
  const kysely = new Kysely<Tables>({ dialect: new NodeSqliteDialect(connection) });
  const close = () => kysely.destroy();
  return { dialect: 'sqlite', kysely, connection, close, [Symbol.asyncDispose]: close };
}

function connect(file: string): DatabaseSync {
  const connection = new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  try {
    // NORMAL with a write-ahead log: a killed process loses nothing that was committed; only a power cut can take the last commits.
    connection.exec(`pragma journal_mode = wal; pragma synchronous = normal; pragma wal_autocheckpoint = ${pagesOfLog}`);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Opening it ourselves first gives an error that names the cause, and a file nobody else can read; SQLite's log files follow its mode. */
function makeFile(file: string): void {
  makeFolder(dirname(file));
  closeSync(openSync(file, 'a+', 0o600));
}

function cannotOpen(file: string, cause: unknown): CribError {
  switch (sqliteErrorCode(cause)) {
    case sqliteResultCodes.notADatabase:
      return new CribError('VALIDATION_ERROR', `The file ${file} is not a SQLite database. Name another file, or move this one away.`, {
        cause,
      });
    case sqliteResultCodes.corrupt:
      return new CribError(
        'SERVICE_UNAVAILABLE',
        `The database file ${file} is damaged. Keep a copy of it, and restore a backup with \`toolcrib restore\`.`,
        { cause },
      );
    case sqliteResultCodes.busy:
      return new CribError('SERVICE_UNAVAILABLE', `The database file ${file} is locked by another program. Stop that program first.`, {
        cause,
      });
    case undefined:
    default: {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const advice = 'Check that the path is right and that this account may read and write it.';
      return new CribError('VALIDATION_ERROR', `The database file ${file} cannot be opened: ${reason}. ${advice}`, { cause });
    }
  }
}
