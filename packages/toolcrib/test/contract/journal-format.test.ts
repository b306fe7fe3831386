import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { array, assert, constantFrom, integer, pre, property, string } from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CallRecord } from '../../src/model/call.ts';
import { ledgers } from '../../src/store/audit/ledgers.ts';
import { storedValues } from '../../src/store/stored-values.ts';
import { rowText } from '../../src/store/journal/entry.ts';
import { JournalWriter } from '../../src/store/journal/journal-writer.ts';
import { firstPosition } from '../../src/store/journal/position.ts';
import { readSegment } from '../../src/store/journal/read-segment.ts';
import { checkHeader, readHeader, segmentFile } from '../../src/store/journal/segment.ts';
import { sampleCall, sampleChainKeys } from './store-samples.ts';

const keys = sampleChainKeys('k1');
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolcrib-journal-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function writerOf(more: { segmentBytes?: number; synced?: boolean } = {}) {
  return new JournalWriter({ folder, keys, from: firstPosition('here'), segment: 1, synced: false, ...more });
}

/** Writes one entry for each list of records, and gives back the file. */
function written(entries: CallRecord[][]): string {
  const writer = writerOf();
  for (const records of entries) expect(writer.append(records)).toBeUndefined();
  return segmentFile(folder, 1);
}

function entriesOf(file: string) {
  const fd = openSync(file, 'r');
  try {
    const { length } = readHeader(fd) ?? { length: 0 };
    return [...readSegment(fd, keys.newest.key, length, readFileSync(file).length)];
  } finally {
    closeSync(fd);
  }
}

const readable = (file: string) => entriesOf(file).flatMap((found) => (found.kind === 'entry' ? [found.entry] : []));
const samples = (count: number) => Array.from({ length: count }, () => sampleCall());

describe('[SEC-4] an entry of the journal', () => {
  test('has the values of a call in the order of the columns', () => {
    const failed = { error_code: 'NETWORK_ERROR', user_name: 'Alice', error_origin: 'source', client: 'console' } as const;
    const call = sampleCall({ ...failed, door: 'mcp', agent: 'a-client/1.2.3' });
    expect(JSON.parse(rowText(call))).toEqual(storedValues(ledgers.calls.columns, call));
  });

  test('comes back as the database stores it, whatever a caller has put into it', () => {
    assert(
      property(array(string({ unit: 'binary' }), { minLength: 1, maxLength: 20 }), (texts) => {
        const calls = texts.map((text) => sampleCall({ subject: `${text}\n\0\uD800`, tool: text, duration_us: 1.5 }));
        rmSync(segmentFile(folder, 1), { force: true });
        const [entry] = readable(written([calls]));
        const rows = calls.map((call) => storedValues(ledgers.calls.columns, { ...call, duration_us: 2 }));
        expect(entry?.rows).toEqual(rows);
      }),
      { numRuns: 50 },
    );
  });

  test('may be larger than any buffer', () => {
    const large = sampleCall({ subject: 'ü€😀'.repeat(200_000) });
    const [first, second] = readable(written([[large], [sampleCall()]]));
    expect(first?.rows[0]).toEqual(storedValues(ledgers.calls.columns, large));
    expect(second?.previous).toBe(first?.mac);
  });

  test('is chained to the one before', () => {
    const entries = readable(written([samples(2), samples(1), samples(3)]));
    expect(entries.map(({ n, rows }) => [n, rows.length])).toEqual([
      [1, 2],
      [2, 1],
      [3, 3],
    ]);
    expect(entries[1]?.previous).toBe(entries[0]?.mac);
    expect(entries[2]?.previous).toBe(entries[1]?.mac);
  });
});

describe('[SEC-4] a damaged journal', () => {
  test('is found wherever a byte of an entry was flipped, and every other entry is still read', () => {
    const file = written([samples(2), samples(1), samples(2)]);
    const whole = readFileSync(file);
    const start = whole.indexOf('\n') + 1;
    const all = readable(file);
    assert(
      property(integer({ min: start, max: whole.length - 1 }), integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Buffer.from(whole);
        changed[at] = (changed[at] ?? 0) ^ flip;
        writeFileSync(file, changed);
        const left = readable(file);
        expect(left.length).toBeLessThan(all.length);
        expect(all).toEqual(expect.arrayContaining(left));
        // A line break that is gone, or is new, concerns two entries at most.
        expect(left.length).toBeGreaterThanOrEqual(all.length - 2);
      }),
      { numRuns: 300 },
    );
  });

  test('that is cut off anywhere has every entry before the cut', () => {
    const file = written([samples(1), samples(2), samples(1)]);
    const whole = readFileSync(file);
    const ends = entriesOf(file).map(({ end }) => end);
    assert(
      property(integer({ min: whole.indexOf('\n') + 1, max: whole.length }), (length) => {
        writeFileSync(file, whole.subarray(0, length));
        expect(readable(file)).toHaveLength(ends.filter((end) => end <= length).length);
        // What an unfinished write leaves behind is nobody's doing.
        expect(entriesOf(file).filter((found) => found.kind === 'unreadable' && found.changed)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test('shows any change of its first line', () => {
    const file = written([samples(1)]);
    const whole = readFileSync(file);
    const line = whole.toString('utf8', 0, whole.indexOf('\n'));
    const identity = JSON.parse(line) as { journal: string; server: string };
    expect(checkHeader(line, file, keys, identity)).toMatchObject({ segment: 1, first: 1 });
    assert(
      property(integer({ min: 0, max: line.length - 1 }), constantFrom('x', '0', '"', ' '), (at, character) => {
        const changed = line.slice(0, at) + character + line.slice(at + 1);
        pre(changed !== line);
        expect(() => checkHeader(changed, file, keys, identity)).toThrow(/^The journal .* so nothing was changed$/);
      }),
      { numRuns: 200 },
    );
  });
});

describe('[SEC-4] writing the journal', () => {
  test('begins another segment when one is full, and goes on with the chain', () => {
    const writer = writerOf({ segmentBytes: 1000 });
    for (let count = 0; count < 12; count++) void writer.append(samples(1));
    expect(writer.place.segment).toBeGreaterThan(2);
    const entries = Array.from({ length: writer.place.segment }, (_unused, index) => readable(segmentFile(folder, index + 1))).flat();
    expect(entries.map(({ n }) => n)).toEqual(Array.from({ length: 12 }, (_unused, index) => index + 1));
    expect(entries.slice(1).map(({ previous }) => previous)).toEqual(entries.slice(0, -1).map(({ mac }) => mac));
  });

  test('makes files that only this account can read, and none before there is something to write', async () => {
    const writer = writerOf();
    writer.finishSegment();
    expect(() => readFileSync(segmentFile(folder, 1))).toThrow('ENOENT');
    const synced = writerOf({ synced: true });
    await synced.append(samples(1));
    expect(readable(segmentFile(folder, 1))).toHaveLength(1);
    // Windows has no such bits.
    const others = process.platform === 'win32' ? 0 : 0o077;
    expect(statSync(segmentFile(folder, 1)).mode & others).toBe(0);
    synced.finishSegment();
  });
});
