import { closeSync, fdatasyncSync, fstatSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { AuditHead } from '../../model/audit.ts';
import { CribError } from '../../model/crib-error.ts';
import type { ChainKeys } from '../audit/mac.ts';
import type { Database } from '../database.ts';
import type { StoredValue } from '../stored-values.ts';
import { createImportRows } from './import-rows.ts';
import { isBefore, type Place, type Position } from './position.ts';
import { readSegment } from './read-segment.ts';
import { checkHeader, readHeader, segmentFile, listSegments, type Header } from './segment.ts';

export interface ImporterInput {
  database: Database;
  /** The file of a SQLite database, whose log has to reach the disk before a segment is deleted. */
  databaseFile: string | undefined;
  keys: ChainKeys;
  folder: string;
  from: Position;
  /** The last row of a chain that is to be continued. */
  head?: AuditHead | undefined;
  /** Whether the server that wrote it is gone, perhaps with the power of its machine. */
  afterCrash?: boolean;
  warn(message: string): void;
  now?(): number;
}

export interface Imported {
  position: Position;
  /** The last row that was surely written. */
  head: AuditHead | undefined;
}

export interface Importer extends Disposable {
  /** Brings everything in that stands before this place, and deletes the segments that end before it. */
  importUpTo(place: Place): Promise<Imported>;
}

/** A transaction keeps everybody else who writes waiting, so each is short, with a pause for them in between. */
const rowsAtOnce = 500;
const pauseMs = 1;

/** Brings a journal into the database, one transaction after another. */
export function createImporter(input: ImporterInput): Importer {
  const { database, databaseFile, keys, folder, afterCrash = false, warn, now = Date.now } = input;
  const rows = createImportRows({ database, keys, head: input.head, now, warn });
  let position = input.from;

  /** Kept open until they are deleted: a journal whose folder is gone can still be brought in. */
  const opened = new Map<number, number>();

  function fdOf(segment: number): number {
    const known = opened.get(segment);
    const fd = known ?? openSync(segmentFile(folder, segment), 'r');
    opened.set(segment, fd);
    return fd;
  }

  /** Up to an offset, which a server that runs has surely written; up to its end where it is left out. */
  async function importSegment(segment: number, upTo: number | undefined): Promise<void> {
    const file = segmentFile(folder, segment);
    const fd = fdOf(segment);
    const first = readHeader(fd);
    if (first === undefined) return;
    const header = checkHeader(first.line, file, keys, position);
    const isFresh = position.segment !== segment;
    const reading = createReading(position, header, { isFresh, mayHaveZeros: afterCrash && !header.synced });
    const { size } = fstatSync(fd);
    for (const found of readSegment(fd, keyOf(header), isFresh ? first.length : position.offset, Math.min(upTo ?? size, size))) {
      if (found.kind === 'unreadable') reading.unreadable(found);
      else reading.entry(found.entry, { segment, offset: found.end });
      if (reading.rows < rowsAtOnce) continue;
      await take(reading);
      await delay(pauseMs);
    }
    if (upTo !== undefined && size < upTo) reading.unreadable({ changed: true, hasZeros: false });
    if (reading.isFurther) await take(reading);
    const damage = reading.damage();
    if (damage !== undefined) noteDamage(file, damage);
  }

  function keyOf({ kid }: Header) {
    const key = keys.find(kid);
    if (key === undefined) throw new CribError('INTERNAL', `The key ${kid} is gone`);
    return key;
  }

  async function take(reading: Reading): Promise<void> {
    const piece = reading.take(position);
    await rows.importPiece(piece);
    position = piece.to;
  }

  const damaged = new Set<string>();
  /** What nobody can read is kept for whoever looks into it; every verification reports the file. */
  function noteDamage(file: string, damage: string): void {
    if (damaged.has(file)) return;
    damaged.add(file);
    warn(`The journal ${file} ${damage}. What can be read of it is recorded, and the file will be kept as ${file}.damaged`);
  }

  function remove(segment: number): void {
    const file = segmentFile(folder, segment);
    const fd = opened.get(segment);
    try {
      if (damaged.has(file)) renameSync(file, `${file}.damaged`);
      else unlinkSync(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    if (fd !== undefined) closeSync(fd);
    opened.delete(segment);
  }

  return {
    async importUpTo(place) {
      const segments = new Set([...listSegments(folder).segments, ...opened.keys()]);
      const left = [...segments].filter((segment) => segment <= place.segment).toSorted((one, other) => one - other);
      if (place.offset > 0 && !segments.has(place.segment)) throw gone(segmentFile(folder, place.segment));
      for (const segment of left) {
        if (segment >= position.segment) await importSegment(segment, segment === place.segment ? place.offset : undefined);
      }
      const over = left.filter((segment) => segment < place.segment);
      // A power cut may take what was committed last: the journal has it until the database surely does.
      if (over.length > 0 && databaseFile !== undefined) syncLog(databaseFile);
      for (const segment of over) remove(segment);
      return { position, head: rows.last };
    },
    [Symbol.dispose]() {
      for (const fd of opened.values()) closeSync(fd);
      opened.clear();
    },
  };
}

function gone(file: string): CribError {
  return new CribError('SERVICE_UNAVAILABLE', `The journal ${file} was deleted while it was needed`);
}

interface Damage {
  changed: boolean;
  hasZeros: boolean;
}

type Reading = ReturnType<typeof createReading>;

/** What was read of a segment and not brought in yet, and what was wrong with it. */
function createReading(start: Position, header: Header, { isFresh, mayHaveZeros }: { isFresh: boolean; mayHaveZeros: boolean }) {
  // A segment says where it goes on. What the one before has beyond that was never acknowledged.
  let last: Pick<Position, 'entry' | 'mac'> = { entry: start.entry, mac: start.mac };
  let missing = 0;
  if (isFresh) {
    missing = Math.max(0, header.first - 1 - last.entry);
    last = { entry: header.first - 1, mac: header.previous };
  }
  let end: Place = { segment: start.segment, offset: start.offset };
  let rows: StoredValue[][] = [];
  let skipped: Damage | undefined;
  let lost = missing;
  let isChanged = missing > 0;
  return {
    get rows() {
      return rows.length;
    },
    get isFurther() {
      return isBefore(start, end);
    },
    entry({ n, previous, mac, rows: read }: { n: number; previous: string; mac: string; rows: StoredValue[][] }, at: Place) {
      if (n <= last.entry) return;
      if (n !== last.entry + 1 || previous !== last.mac) {
        // Without --fsync a power cut may leave zeros where something was; anything else was somebody's doing.
        const isPowerCut = mayHaveZeros && skipped?.hasZeros === true && !skipped.changed;
        missing += isPowerCut ? 0 : Math.max(1, n - last.entry - 1);
        lost += Math.max(1, n - last.entry - 1);
        isChanged ||= !isPowerCut;
      }
      skipped = undefined;
      last = { entry: n, mac };
      end = at;
      rows.push(...read);
    },
    unreadable(damage: Damage) {
      skipped = { changed: skipped?.changed === true || damage.changed, hasZeros: skipped?.hasZeros === true || damage.hasZeros };
    },
    take(from: Position) {
      const piece = { from, to: { ...from, ...end, entry: last.entry, mac: last.mac }, rows, missing };
      [rows, missing] = [[], 0];
      start = piece.to;
      return piece;
    },
    /** In words; undefined where nothing is wrong, or something is at the end that a killed server leaves behind. */
    damage(): string | undefined {
      if (isChanged) return lost === 1 ? 'was changed, or lost an entry' : `was changed, or lost ${lost} entries`;
      return skipped?.changed === true ? 'was changed at its end, or cut off' : undefined;
    },
  };
}

/** The write-ahead log is no file that SQLite locks, so closing it here drops no lock. */
export function syncLog(databaseFile: string): void {
  let fd: number;
  try {
    fd = openSync(`${databaseFile}-wal`, 'r+');
  } catch (error) {
    // Without a log everything is in the database itself.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
