import { readSync } from 'node:fs';
import type { KeyObject } from 'node:crypto';
import { looksChanged, parseEntry, type Entry } from './entry.ts';

/** What stands in a segment, in its order. `end` is the offset behind it. */
export type Found =
  | { kind: 'entry'; entry: Entry; end: number }
  /** Not as it was written. `changed`: no unfinished write leaves that behind. */
  | { kind: 'unreadable'; changed: boolean; hasZeros: boolean; end: number };

const chunkBytes = 262_144;
const newline = 0x0a;

/** Reads from one offset up to another. Bytes without a line break at the end are unreadable. */
export function* readSegment(fd: number, key: KeyObject, from: number, to: number): Generator<Found> {
  let rest: Buffer = Buffer.alloc(0);
  let end = from;
  for (let offset = from; offset < to;) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, to - offset));
    const read = readSync(fd, chunk, 0, chunk.length, offset);
    if (read === 0) break;
    offset += read;
    rest = rest.length === 0 ? chunk.subarray(0, read) : Buffer.concat([rest, chunk.subarray(0, read)]);
    for (let at = rest.indexOf(newline); at >= 0; at = rest.indexOf(newline)) {
      const line = rest.subarray(0, at);
      rest = rest.subarray(at + 1);
      end += at + 1;
      const entry = parseEntry(key, line);
      yield entry === undefined
        ? { kind: 'unreadable', changed: looksChanged(line), hasZeros: line.includes(0), end }
        : { kind: 'entry', entry, end };
    }
  }
  if (rest.length > 0) yield { kind: 'unreadable', changed: false, hasZeros: rest.includes(0), end: end + rest.length };
}
