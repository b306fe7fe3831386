import { closeSync, fdatasync, fsync, ftruncateSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { CallRecord } from '../../model/call.ts';
import type { ChainKeys } from '../audit/mac.ts';
import { makeFolder } from '../make-folder.ts';
import { macLength, rowText, writeEntry } from './entry.ts';
import type { Place, Position } from './position.ts';
import { formatHeader, segmentFile } from './segment.ts';

export interface JournalWriterInput {
  folder: string;
  keys: ChainKeys;
  /** Where the journal goes on. */
  from: Position;
  /** The number of the first segment that it writes. */
  segment: number;
  /** Whether a record counts only once it has reached the disk. */
  synced: boolean;
  segmentBytes?: number | undefined;
}

interface OpenSegment {
  fd: number;
  /** Set until the name of a new file has reached the disk. */
  isUnnamed: boolean;
}

const usualSegmentBytes = 67_108_864;
const usualBufferBytes = 262_144;
const [sync, syncData] = [promisify(fsync), promisify(fdatasync)];

/**
 * [SEC-4] Appends records to the journal. An entry that could not be written whole does not count: the next one is written in its place.
 * A file is opened when there is something to write, so that a server that does nothing leaves none behind.
 */
export class JournalWriter {
  readonly #input: JournalWriterInput;
  readonly #segmentBytes: number;
  #buffer = Buffer.allocUnsafe(usualBufferBytes);
  #open: OpenSegment | undefined;
  #place: Place;
  #entry: number;
  #mac: string;
  #isSpoilt = false;

  constructor(input: JournalWriterInput) {
    this.#input = input;
    this.#segmentBytes = input.segmentBytes ?? usualSegmentBytes;
    this.#place = { segment: input.segment, offset: 0 };
    [this.#entry, this.#mac] = [input.from.entry, input.from.mac];
  }

  /** Behind everything that counts. */
  get place(): Place {
    return this.#place;
  }

  /** Writes one entry. Undefined where it counts already; else a promise for when it does. One at a time. */
  append(records: readonly CallRecord[]): Promise<void> | undefined {
    if (this.#isSpoilt || this.#place.offset >= this.#segmentBytes) this.finishSegment();
    const segment = (this.#open ??= this.#openSegment());
    let rows = '';
    for (const record of records) rows += rows === '' ? rowText(record) : `,${rowText(record)}`;
    const { length, mac } = this.#fill(rows);
    writeAll(segment.fd, this.#buffer, length, this.#place.offset);
    if (this.#input.synced) return this.#synced(segment, length, mac);
    this.#advance(length, mac);
    return undefined;
  }

  /** The next entry begins another segment, so that this one can be deleted. */
  finishSegment(): void {
    if (this.#open === undefined) return;
    const { fd } = this.#open;
    try {
      // What does not count must not be read.
      if (this.#isSpoilt) ftruncateSync(fd, this.#place.offset);
    } catch {
      // The next segment says where it goes on.
    }
    closeSync(fd);
    this.#open = undefined;
    this.#isSpoilt = false;
    this.#place = { segment: this.#place.segment + 1, offset: 0 };
  }

  /** Writes what is in the open segment to another folder, also where its own is gone. */
  copyTo(folder: string): void {
    if (this.#open === undefined) return;
    const bytes = Buffer.alloc(this.#place.offset);
    for (let read = 0; read < bytes.length;) {
      const more = readSync(this.#open.fd, bytes, read, bytes.length - read, read);
      if (more === 0) break;
      read += more;
    }
    makeFolder(folder);
    writeFileSync(segmentFile(folder, this.#place.segment), bytes, { mode: 0o600, flush: true });
  }

  #fill(rows: string): { length: number; mac: string } {
    const link = { n: this.#entry + 1, previous: this.#mac };
    const { key } = this.#input.keys.newest;
    let written = writeEntry(key, this.#buffer, link, rows);
    while (written === undefined) {
      this.#buffer = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, rows.length * 3 + macLength + usualBufferBytes));
      written = writeEntry(key, this.#buffer, link, rows);
    }
    return written;
  }

  async #synced(segment: OpenSegment, length: number, mac: string): Promise<void> {
    try {
      await syncData(segment.fd);
      if (segment.isUnnamed) for (const folder of [this.#input.folder, dirname(this.#input.folder)]) await syncFolder(folder);
      segment.isUnnamed = false;
    } catch (error) {
      // After a failure nobody knows what of the file has reached the disk, and a second try may succeed without writing it.
      this.#isSpoilt = true;
      throw error;
    }
    this.#advance(length, mac);
  }

  #advance(length: number, mac: string): void {
    this.#place = { segment: this.#place.segment, offset: this.#place.offset + length };
    this.#entry += 1;
    this.#mac = mac;
  }

  #openSegment(): OpenSegment {
    const { folder, keys, from, synced } = this.#input;
    const { segment } = this.#place;
    makeFolder(folder);
    const file = segmentFile(folder, segment);
    const fd = openSync(file, 'wx+', 0o600);
    const { journal, server } = from;
    const line = formatHeader(keys, { journal, server, segment, first: this.#entry + 1, previous: this.#mac, synced });
    const bytes = Buffer.from(line);
    try {
      writeAll(fd, bytes, bytes.length, 0);
    } catch (error) {
      closeSync(fd);
      // A file without its first line says nothing, whether it can be removed or not: the next one has another name.
      this.#place = { segment: segment + 1, offset: 0 };
      rmSync(file, { force: true });
      throw error;
    }
    this.#place = { segment, offset: bytes.length };
    return { fd, isUnnamed: true };
  }
}

/** The disk may take a part of it and refuse the rest. */
function writeAll(fd: number, buffer: Buffer, length: number, offset: number): void {
  for (let written = 0; written < length;) written += writeSync(fd, buffer, written, length - written, offset + written);
}

/** A new file is there after a power cut only if its folder has reached the disk as well. */
async function syncFolder(folder: string): Promise<void> {
  const fd = openSync(folder, 'r');
  try {
    await sync(fd);
  } finally {
    closeSync(fd);
  }
}
