import { readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { CribError } from '../../model/crib-error.ts';
import { noteMac, type ChainKeys } from '../audit/mac.ts';

/** The first line of a segment: whose journal it is, and where it goes on. */
export interface Header {
  toolcrib_journal: 1;
  /** The id that the database knows the journal by. */
  journal: string;
  server: string;
  kid: string;
  segment: number;
  /** The number of its first entry, and the mac of the entry before. */
  first: number;
  previous: string;
  /** Whether every answer waited until its record had reached the disk. */
  synced: boolean;
  mac: string;
}
type HeaderFacts = Omit<Header, 'toolcrib_journal' | 'mac' | 'kid'>;

/** Which journal is expected. */
export interface JournalIdentity {
  journal: string;
  server: string;
}

const segmentName = /^(\d{6,})\.log$/;
const damagedName = /^\d{6,}\.log\.damaged$/;
const longestHeader = 4096;

export function segmentFile(folder: string, segment: number): string {
  return join(folder, `${String(segment).padStart(6, '0')}.log`);
}

/** The segments of a folder, the oldest first, and the names of those that were put aside. */
export function listSegments(folder: string): { segments: number[]; damaged: string[] } {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { segments: [], damaged: [] };
    throw error;
  }
  const segments = names.flatMap((name) => segmentName.exec(name)?.[1] ?? []).map(Number);
  return { segments: segments.toSorted((one, other) => one - other), damaged: names.filter((name) => damagedName.test(name)).toSorted() };
}

export function formatHeader({ newest }: ChainKeys, facts: HeaderFacts): string {
  const { journal, server, segment, first, previous, synced } = facts;
  const unsigned = { toolcrib_journal: 1, journal, server, segment, first, previous, synced, kid: newest.kid } as const;
  return `${JSON.stringify({ ...unsigned, mac: headerMac(newest.key, unsigned) } satisfies Header)}\n`;
}

/** Reads the first line. Undefined where it has no end: the server was killed before it had written anything else. */
export function readHeader(fd: number): { line: string; length: number } | undefined {
  const buffer = Buffer.alloc(longestHeader);
  const read = readSync(fd, buffer, 0, longestHeader, 0);
  const end = buffer.subarray(0, read).indexOf('\n');
  if (end < 0 && read < longestHeader) return undefined;
  return { line: buffer.toString('utf8', 0, Math.max(end, 0)), length: end + 1 };
}

/** Throws where a segment is not one of this server, this database and these keys. */
export function checkHeader(line: string, file: string, keys: ChainKeys, { journal, server }: JournalIdentity): Header {
  const refuse = (why: string) =>
    new CribError('CONFLICT', `The journal ${file} ${why}. It may hold calls that are recorded nowhere else, so nothing was changed`);
  const header = parseHeader(line);
  if (header === undefined)
    throw refuse('is not a journal of Toolcrib: its first line was changed. Move the file out of the data folder to start without it');
  const key = keys.find(header.kid);
  if (key === undefined)
    throw refuse(`was written with the key ${header.kid}, which is not among the keys of this server. Add that key to start`);
  const { mac, ...unsigned } = header;
  if (headerMac(key, unsigned) !== mac)
    throw refuse('was changed: its first line does not match its mac. Move it away to start without it');
  if (header.journal !== journal || header.server !== server)
    throw refuse(
      'belongs to another database or another server. Start that server with it, or move the file out of the data folder to start without it',
    );
  return header;
}

/** Only as it is written here: whatever is there beside the values, or in place of them, was put there by somebody else. */
function parseHeader(line: string): Header | undefined {
  try {
    const { journal, server, segment, first, previous, synced, kid, mac } = JSON.parse(line) as Header;
    const header: Header = { toolcrib_journal: 1, journal, server, segment, first, previous, synced, kid, mac };
    return JSON.stringify(header) === line && typeof kid === 'string' ? header : undefined;
  } catch {
    return undefined;
  }
}

function headerMac(key: Parameters<typeof noteMac>[0], { journal, server, kid, segment, first, previous, synced }: Omit<Header, 'mac'>) {
  return noteMac(key, 'journal', [journal, server, kid, segment, first, previous, synced ? 1 : 0]);
}
