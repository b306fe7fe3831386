import { rmdirSync } from 'node:fs';
import type { AuditHead, AuditProblem } from '../../model/audit.ts';
import type { CallRecord } from '../../model/call.ts';
import { CribError } from '../../model/crib-error.ts';
import { storageTrouble } from '../storage-trouble.ts';
import type { ImportRunner } from './import-thread.ts';
import { createImporter } from './importer.ts';
import { JournalWriter } from './journal-writer.ts';
import { isBefore, type Place, type Position } from './position.ts';
import { beginJournal, replayJournal, type ReplayInput } from './replay.ts';
import { listSegments } from './segment.ts';
import { createSqliteImport } from './sqlite-import.ts';
import { verifyJournal } from './verify-journal.ts';

/** [SEC-4] What was recorded and is not in the database yet. */
export interface Journal {
  /** Undefined where the records are durable when it returns; else a promise for when they are. One at a time. */
  append(records: readonly CallRecord[]): Promise<void> | undefined;
  /** Resolves when everything recorded so far is in the database; rejects where that takes too long. */
  caughtUp(): Promise<void>;
  /** Lets go of what is in the database already, so that retention can delete it. */
  release(): Promise<void>;
  problems(): Promise<AuditProblem[]>;
  /** The last row that was brought in. */
  readonly head: AuditHead | undefined;
  readonly backlog: JournalBacklog;
  /** Writes what is not in the database yet to another folder. */
  copyTo(folder: string): void;
  close(): Promise<void>;
}

/** [OPS-1] What waits to be brought into the database. */
interface JournalBacklog {
  bytes: number;
  /** For how long the oldest of it has waited at most. */
  seconds: number;
}

export interface JournalInput extends ReplayInput {
  /** Whether a record counts only once it has reached the disk. */
  synced: boolean;
  /** Nothing should be accepted any more, and why. */
  onTrouble(reason: string): void;
  onWorking(): void;
  segmentBytes?: number | undefined;
  /** How much is brought in without a thread. */
  littleBytes?: number | undefined;
  /** How much may wait. */
  mostBytes?: number | undefined;
  /** How long a reader waits. */
  patienceMs?: number | undefined;
}

const collectMs = 50;
const longestPauseMs = 1000;
const usualMostBytes = 1_073_741_824;
const usualPatienceMs = 10_000;

/** Brings in what an earlier server has left, and begins to write. */
export async function openJournal(input: JournalInput): Promise<Journal> {
  const { folder, keys, synced, segmentBytes } = input;
  const from = (await replayJournal(input)) ?? (await beginJournal(input));
  const segment = Math.max(from.segment, ...listSegments(folder).segments) + 1;
  const writer = new JournalWriter({ folder, keys, from, segment, synced, segmentBytes });
  return new LiveJournal(input, writer, runnerOf(input, from));
}

function runnerOf(input: JournalInput, from: Position): ImportRunner {
  const { databaseFile } = input;
  if (databaseFile !== undefined) return createSqliteImport({ ...input, databaseFile });
  const importer = createImporter({ ...input, from });
  return { importUpTo: importer.importUpTo, close: async () => importer[Symbol.dispose]() };
}

interface Waiter {
  place: Place;
  timer: NodeJS.Timeout;
  resolve(): void;
}

/** The journal of a server that runs: written to at once, and brought into the database a moment later. */
class LiveJournal implements Journal {
  readonly #input: JournalInput;
  readonly #writer: JournalWriter;
  readonly #runner: ImportRunner;
  readonly #mostBytes: number;
  #imported: Place;
  /** Of segments that were finished and are not in the database yet. */
  readonly #finished = new Map<number, number>();
  #oldest = 0;
  #waiters: Waiter[] = [];
  #timer: NodeJS.Timeout | undefined;
  #importing: Promise<void> | undefined;
  #isClosed = false;
  #pauseMs = collectMs;
  #trouble: string | undefined;
  head: AuditHead | undefined;

  constructor(input: JournalInput, writer: JournalWriter, runner: ImportRunner) {
    this.#input = input;
    this.#writer = writer;
    this.#runner = runner;
    this.#imported = writer.place;
    this.#mostBytes = input.mostBytes ?? usualMostBytes;
  }

  append(records: readonly CallRecord[]): Promise<void> | undefined {
    const { segment, offset } = this.#writer.place;
    const written = this.#writer.append(records);
    if (this.#writer.place.segment !== segment) this.#finished.set(segment, offset);
    if (written !== undefined) return written.then(() => this.#written());
    this.#written();
    return undefined;
  }

  async caughtUp(): Promise<void> {
    const { place } = this.#writer;
    if (!isBefore(this.#imported, place)) return;
    const { patienceMs = usualPatienceMs } = this.#input;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#waiters = this.#waiters.filter((waiter) => waiter !== waiting);
      reject(this.#tooSlow());
    }, patienceMs);
    const waiting: Waiter = { place, timer, resolve };
    this.#waiters.push(waiting);
    this.#importIn(0);
    await promise;
  }

  async release(): Promise<void> {
    this.#finishSegment();
    await this.caughtUp();
  }

  async problems(): Promise<AuditProblem[]> {
    const { database, keys, folder, server } = this.#input;
    return verifyJournal({ queries: database.kysely, keys, folder, server, place: this.#writer.place });
  }

  get backlog(): JournalBacklog {
    return { bytes: this.#bytesBehind, seconds: this.#isBehind ? (performance.now() - this.#oldest) / 1000 : 0 };
  }

  copyTo(folder: string): void {
    if (this.#isBehind) this.#writer.copyTo(folder);
  }

  async close(): Promise<void> {
    try {
      await this.release();
    } catch (error) {
      this.#input.warn(`The journal will be brought into the database at the next start: ${String(error)}`);
    }
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#importing;
    await this.#runner.close();
    removeIfEmpty(this.#input.folder);
  }

  get #isBehind(): boolean {
    return isBefore(this.#imported, this.#writer.place);
  }

  get #bytesBehind(): number {
    let bytes = this.#writer.place.offset - this.#imported.offset;
    for (const size of this.#finished.values()) bytes += size;
    return bytes;
  }

  #written(): void {
    if (this.#bytesBehind > this.#mostBytes) this.#judge();
    if (this.#timer !== undefined || this.#importing !== undefined) return;
    this.#oldest = performance.now();
    this.#importIn(this.#pauseMs);
  }

  #finishSegment(): void {
    const { segment, offset } = this.#writer.place;
    this.#writer.finishSegment();
    if (this.#writer.place.segment !== segment) this.#finished.set(segment, offset);
  }

  #importIn(ms: number): void {
    if (this.#importing !== undefined || this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#importing = this.#import();
    }, ms);
    // A process that has nothing else to do ends: the next one finds the journal.
    if (this.#waiters.length === 0) this.#timer.unref();
  }

  async #import(): Promise<void> {
    const { place } = this.#writer;
    const began = performance.now();
    try {
      const { head } = await this.#runner.importUpTo(place, this.#bytesBehind);
      this.head = head ?? this.head;
      this.#imported = place;
      for (const number of this.#finished.keys()) if (number < place.segment) this.#finished.delete(number);
      this.#oldest = began;
      this.#pauseMs = collectMs;
      this.#settle(place);
    } catch (error) {
      this.#failed(error);
    }
    this.#importing = undefined;
    this.#judge();
    if (this.#isBehind) this.#importIn(this.#waiters.length > 0 && this.#trouble === undefined ? 0 : this.#pauseMs);
  }

  #settle(place: Place): void {
    this.#trouble = undefined;
    for (const { place: wanted, timer, resolve } of this.#waiters) {
      if (isBefore(place, wanted)) continue;
      clearTimeout(timer);
      resolve();
    }
    this.#waiters = this.#waiters.filter((waiter) => isBefore(place, waiter.place));
  }

  #failed(error: unknown): void {
    const isNew = this.#trouble === undefined;
    this.#trouble = storageTrouble(error) ?? 'What was recorded cannot be brought into the database: the log says why.';
    this.#pauseMs = Math.min(longestPauseMs, this.#pauseMs * 2);
    if (isNew) this.#input.warn(`The journal could not be brought into the database, which is tried again: ${String(error)}`);
  }

  /** A journal that only grows would fill the disk. */
  #judge(): void {
    const { onTrouble, onWorking } = this.#input;
    const isTooMuch = this.#bytesBehind > this.#mostBytes;
    const reason = this.#trouble ?? (isTooMuch ? 'More was recorded than could be brought into the database so far.' : undefined);
    if (reason === undefined) onWorking();
    else onTrouble(reason);
  }

  #tooSlow(): CribError {
    const why = this.#trouble ?? 'What was recorded last is not in the database yet.';
    return new CribError('SERVICE_UNAVAILABLE', `The record cannot be read at the moment. ${why} Try again shortly.`, {
      retryAfterMs: longestPauseMs,
      origin: 'gateway',
    });
  }
}

/** Nothing is left of a journal that is in the database. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // There is something in it, or it was never made.
  }
}
