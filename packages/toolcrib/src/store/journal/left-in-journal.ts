import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isBefore, type Place } from './position.ts';
import { listSegments, segmentFile } from './segment.ts';

/** How far a journal that may be in use has come; undefined where nothing is in it. Looks at the files only. */
export function endOfJournal(folder: string): Place | undefined {
  for (const segment of listSegments(folder).segments.toReversed()) {
    const bytes = readIfThere(segmentFile(folder, segment));
    // What is being written at this moment has no end yet, and the first line is no entry.
    const offset = (bytes?.lastIndexOf('\n') ?? -1) + 1;
    if (bytes !== undefined && offset > bytes.indexOf('\n') + 1) return { segment, offset };
  }
  return undefined;
}

/** Whether a database has everything in it that stands before a place of the journal of its only server. Needs no keys. */
export function hasImported(databaseFile: string, place: Place): boolean {
  const database = new DatabaseSync(databaseFile, { readOnly: true, timeout: 10_000 });
  try {
    const row = database.prepare(`select segment, "offset" from journals where server = 'here'`).get() as Place | undefined;
    return row !== undefined && !isBefore(row, place);
  } finally {
    database.close();
  }
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
