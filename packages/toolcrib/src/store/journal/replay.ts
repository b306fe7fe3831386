import { CribError } from '../../model/crib-error.ts';
import type { ChainKeys } from '../audit/mac.ts';
import type { Database } from '../database.ts';
import { createImporter, syncLog } from './importer.ts';
import { firstPosition, readPosition, writePosition, type Position } from './position.ts';
import { listSegments, segmentFile } from './segment.ts';

export interface ReplayInput {
  database: Database;
  /** The file of a SQLite database. */
  databaseFile: string | undefined;
  keys: ChainKeys;
  folder: string;
  server: string;
  warn(message: string): void;
}

/**
 * [SEC-4] Brings in what a server that was killed has left in its journal, and deletes it there. Must be over before anybody reads the
 * record. Throws where the journal is not of this database, this server and these keys. Undefined where there never was one.
 */
export async function replayJournal(input: ReplayInput): Promise<Position | undefined> {
  const { database, databaseFile, keys, folder, server, warn } = input;
  const { segments } = listSegments(folder);
  const noted = await readPosition(database.kysely, keys, server);
  const [first] = segments;
  if (noted === undefined) {
    if (first !== undefined) throw foreign(segmentFile(folder, first));
    return undefined;
  }
  let { position } = noted;
  if (!noted.isVouched) {
    warn(
      'How far the journal was brought into the database was changed by something else than a server: all that is left of it is read again',
    );
    const { journal, mac } = { ...firstPosition(server), journal: position.journal };
    position = { server, journal, segment: 0, offset: 0, entry: 0, mac };
    await writePosition(database.kysely, keys, position);
  }
  if (segments.length === 0) return position;
  using importer = createImporter({ database, databaseFile, keys, folder, from: position, afterCrash: true, warn });
  const imported = await importer.importUpTo({ segment: Math.max(...segments) + 1, offset: 0 });
  return imported.position;
}

/** Makes the database know a journal, for good: without it, nobody could tell later whose it is. */
export async function beginJournal({ database, databaseFile, keys, server }: ReplayInput): Promise<Position> {
  const position = firstPosition(server);
  await writePosition(database.kysely, keys, position);
  if (databaseFile !== undefined) syncLog(databaseFile);
  return position;
}

function foreign(file: string): CribError {
  return new CribError(
    'CONFLICT',
    `The journal ${file} belongs to another database: this one never had a journal. It may hold calls that are recorded nowhere else, so nothing was changed. Put its database back, or move the file out of the data folder to start without it`,
  );
}
