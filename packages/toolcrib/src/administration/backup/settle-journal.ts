import { setTimeout as delay } from 'node:timers/promises';
import { CribError } from '../../model/crib-error.ts';
import { createAuditKeys } from '../../secrets/audit-keys.ts';
import { openKeyRing } from '../../secrets/open-key-ring.ts';
import { databaseFileOf, journalFolder } from '../../store/data-files.ts';
import { endOfJournal, hasImported } from '../../store/journal/left-in-journal.ts';
import { replayJournal } from '../../store/journal/replay.ts';
import { lockDataDirectory } from '../../store/lock-data-directory.ts';
import { openSqlite } from '../../store/open-sqlite.ts';

interface SettleInput {
  dataDir: string;
  /** The value of TOOLCRIB_KEYS. */
  keys: string | undefined;
  warn(message: string): void;
}

const patienceMs = 10_000;
const everyMs = 20;

/** [SEC-4] Makes sure that the database has every call that was recorded by now: the server brings them in, or we do where none runs. */
export async function settleJournal(input: SettleInput): Promise<void> {
  const { dataDir } = input;
  const end = endOfJournal(journalFolder(dataDir));
  if (end === undefined) return;
  const databaseFile = databaseFileOf(dataDir);
  for (const until = performance.now() + patienceMs; performance.now() < until; await delay(everyMs)) {
    if (hasImported(databaseFile, end)) return;
    using lock = lockIfFree(dataDir);
    if (lock !== undefined) return bringIn(input);
  }
  const message = `The server on ${dataDir} has not brought its last calls into the database within ${patienceMs / 1000} seconds. Look into its log, and try again`;
  throw new CribError('SERVICE_UNAVAILABLE', message);
}

/** For somebody who holds the data folder already. */
export async function bringIn({ dataDir, keys, warn }: SettleInput): Promise<void> {
  const folder = journalFolder(dataDir);
  if (endOfJournal(folder) === undefined) return;
  const databaseFile = databaseFileOf(dataDir);
  await using database = await openSqlite(databaseFile);
  const auditKeys = createAuditKeys(openKeyRing({ ...(keys !== undefined && { keys }), dataDir, create: false }));
  await replayJournal({ database, databaseFile, keys: auditKeys, folder, server: 'here', warn });
}

function lockIfFree(dataDir: string): Disposable | undefined {
  try {
    return lockDataDirectory(dataDir);
  } catch (error) {
    if (error instanceof CribError && error.code === 'CONFLICT') return undefined;
    throw error;
  }
}
