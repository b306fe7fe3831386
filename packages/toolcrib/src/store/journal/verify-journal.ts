import { closeSync, fstatSync, openSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditProblem } from '../../model/audit.ts';
import { CribError } from '../../model/crib-error.ts';
import type { ChainKeys } from '../audit/mac.ts';
import type { Queries } from '../tables.ts';
import { readPosition, type Place } from './position.ts';
import { readSegment } from './read-segment.ts';
import { checkHeader, listSegments, readHeader, segmentFile, type JournalIdentity } from './segment.ts';

interface JournalVerification {
  queries: Queries;
  keys: ChainKeys;
  folder: string;
  server: string;
  /** Up to where this server has written. */
  place: Place;
}

/** [SEC-4] What is wrong with the files of a journal whose server runs, as sentences. What they held before is in the database. */
export async function verifyJournal({ queries, keys, folder, server, place }: JournalVerification): Promise<AuditProblem[]> {
  const problems: AuditProblem[] = [];
  const tell = (problem: string, seq: number | null = null) => problems.push({ chain: null, seq, id: null, problem });
  const noted = await readPosition(queries, keys, server);
  if (noted?.isVouched !== true) {
    tell('the note of how far the journal was brought into the database was changed');
    return problems;
  }
  const { segments, damaged } = listSegments(folder);
  for (const name of damaged) tell(`the journal ${name} was changed before it was brought into the database`);
  for (const segment of segments) {
    // Not ours: this server would have deleted or written it.
    if (segment > place.segment) tell(`there is a journal ${segmentFile(folder, segment)} that this server has not written`);
    else await verifySegment({ file: segmentFile(folder, segment), keys, identity: noted.position, tell, end: endOf(segment, place) });
  }
  if (place.offset > 0 && !segments.includes(place.segment)) tell(`the journal ${segmentFile(folder, place.segment)} was deleted`);
  return problems;
}

/** Where a server that writes has come to; undefined for what it has finished. */
function endOf(segment: number, place: Place): number | undefined {
  return segment === place.segment ? place.offset : undefined;
}

interface SegmentVerification {
  file: string;
  keys: ChainKeys;
  identity: JournalIdentity;
  end: number | undefined;
  tell(problem: string, seq?: number): void;
}

const entriesPerTurn = 1000;

async function verifySegment({ file, keys, identity, end, tell }: SegmentVerification): Promise<void> {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (error) {
    // It was brought in and deleted since.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    const first = readHeader(fd);
    if (first === undefined) return;
    const { kid, ...header } = checkHeader(first.line, file, keys, identity);
    const key = keys.find(kid);
    const { size } = fstatSync(fd);
    if (end !== undefined && size < end) tell(`the journal ${file} was cut off`);
    let last = { n: header.first - 1, mac: header.previous };
    let unreadable = false;
    let count = 0;
    for (const found of key === undefined ? [] : readSegment(fd, key, first.length, Math.min(end ?? size, size))) {
      if (++count % entriesPerTurn === 0) await nextTurn();
      if (found.kind === 'unreadable') {
        unreadable ||= found.changed || end !== undefined;
        continue;
      }
      const { n, previous, mac } = found.entry;
      if (n !== last.n + 1 || previous !== last.mac) tell(`entry ${last.n + 1} of the journal ${file} was changed or removed`);
      if (n === last.n + 1) unreadable = false;
      last = { n, mac };
    }
    if (unreadable) tell(`the journal ${file} was changed after entry ${last.n}`);
  } catch (error) {
    if (!(error instanceof CribError)) throw error;
    tell(error.message);
  } finally {
    closeSync(fd);
  }
}
