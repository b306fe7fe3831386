import { join } from 'node:path';

/** The embedded database of a data folder. */
export function databaseFileOf(dataDir: string): string {
  return join(dataDir, 'toolcrib.db');
}

/** [SEC-4] Where calls are recorded before they are in the database. */
export function journalFolder(dataDir: string): string {
  return join(dataDir, 'journal');
}
