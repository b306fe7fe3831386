import { setTimeout as delay } from 'node:timers/promises';
import type { CallRecord } from '../model/call.ts';
import type { Acceptance } from './acceptance.ts';

export interface Recorder {
  /**
   * True once the record is durable: only then may the call be answered. False as soon as that takes too long: the record is kept, and
   * written as soon as it can be.
   */
  record(record: CallRecord): Promise<boolean>;
  /** Waits on for such a record, and no longer than that. */
  confirm(callId: string, patienceMs: number): Promise<boolean>;
  /** Resolves when everything recorded so far is written, or with what could not be written in time and is given up. */
  drain(patienceMs: number): Promise<readonly CallRecord[]>;
}

interface RecorderInput {
  append(records: CallRecord[]): Promise<void>;
  /** Told while the record cannot be written. */
  acceptance: Pick<Acceptance, 'suspend' | 'resume'>;
  /** Why a write failed, as a sentence for callers. */
  troubleOf(error: unknown): string | undefined;
  /** Whether a write failed because of what it says, so that it will never do better. */
  isRejected(error: unknown): boolean;
  warn(message: string): void;
  /** [OPS-1] Told how long each batch took, and whether it failed. */
  onWritten?(batch: { seconds: number; failed: boolean }): void;
  /** After how long a write counts as stuck. */
  stuckMs?: number;
}

/** For how long a busy server collects. */
const mostTurns = 6;
const mostAtOnce = 1000;
const longestPauseMs = 1000;

/**
 * [SEC-4] Writes together what finished in the same turn of the event loop, and in the next ones where more calls finish in each. One
 * transaction for many calls is what makes a durable record per call affordable; while one batch is being written, the next one collects.
 *
 * What cannot be written is kept in memory and tried again, in order and before anything newer. Nothing is accepted meanwhile, so that
 * no more is kept than the calls which were running when it began.
 */
export function createRecorder(input: RecorderInput): Recorder {
  const { acceptance, stuckMs = 2000 } = input;
  let collecting: CallRecord[] = [];
  let written: Promise<boolean> | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  /** In order; what is at its front may be under way. */
  let unwritten: CallRecord[] = [];
  let stopped = false;
  const waiting = new Map<string, (isDurable: boolean) => void>();

  /** As long as every turn brings more, and not for long. */
  async function collected(): Promise<void> {
    for (let turns = 0, before = 0; turns < mostTurns && collecting.length > before; turns++) {
      before = collecting.length;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  async function append(records: CallRecord[]): Promise<void> {
    const began = performance.now();
    let failed = true;
    try {
      await input.append(records);
      failed = false;
    } finally {
      input.onWritten?.({ seconds: (performance.now() - began) / 1000, failed });
    }
  }

  async function write(): Promise<boolean> {
    await writing;
    const records = collecting;
    collecting = [];
    written = undefined;
    if (unwritten.length > 0) {
      // Another list: the one there is may be under way.
      unwritten = [...unwritten, ...records];
      return false;
    }
    unwritten = records;
    const { promise: told, resolve: tell } = Promise.withResolvers<boolean>();
    writing = told;
    void tryToWrite(records, tell);
    return told;
  }

  async function tryToWrite(records: CallRecord[], tell: (isDurable: boolean) => void): Promise<void> {
    const stuck = setTimeout(() => {
      acceptance.suspend('record', 'The database does not answer.');
      tell(false);
    }, stuckMs);
    try {
      await append(records);
      done(records.length);
      tell(true);
    } catch (error) {
      suspend(error);
      tell(false);
    }
    clearTimeout(stuck);
    if (unwritten.length > 0) await catchUp();
    else acceptance.resume('record');
  }

  function done(count: number): void {
    if (waiting.size > 0) for (const { call_id } of unwritten.slice(0, count)) settle(call_id, true);
    // Almost always nothing has been added behind them.
    unwritten = unwritten.length === count ? [] : unwritten.slice(count);
  }

  function settle(callId: string, isDurable: boolean): void {
    waiting.get(callId)?.(isDurable);
    waiting.delete(callId);
  }

  function suspend(error: unknown): void {
    acceptance.suspend('record', input.troubleOf(error) ?? 'Calls cannot be recorded: the log says why.');
    input.warn(`The record of ${unwritten.length} calls could not be written, and is tried again: ${String(error)}`);
  }

  /** Until nothing is left. The first success is what shows that calls can be recorded again. */
  async function catchUp(): Promise<void> {
    for (let pauseMs = 50, size = mostAtOnce; unwritten.length > 0;) {
      await delay(pauseMs);
      if (stopped) return;
      const records = unwritten.slice(0, size);
      try {
        await append(records);
        done(records.length);
        [pauseMs, size] = [0, mostAtOnce];
      } catch (error) {
        const isRejected = input.isRejected(error);
        if (isRejected && records.length === 1) giveUp(error);
        // One that can never be written must not hold up the others: they are written one by one until it is found.
        [pauseMs, size] = isRejected ? [0, 1] : [Math.min(longestPauseMs, (pauseMs + 25) * 2), size];
      }
    }
    acceptance.resume('record');
  }

  function giveUp(error: unknown): void {
    const [record] = unwritten.splice(0, 1);
    if (record === undefined) return;
    input.warn(`A call cannot be recorded: ${String(error)}. ${JSON.stringify(record)}`);
    settle(record.call_id, false);
  }

  return {
    record(record) {
      collecting.push(record);
      written ??= collected().then(write);
      return written;
    },
    confirm(callId, patienceMs) {
      if (!unwritten.some(({ call_id }) => call_id === callId)) return Promise.resolve(true);
      return new Promise((resolve) => {
        const timer = setTimeout(() => settle(callId, false), patienceMs);
        waiting.set(callId, (isDurable) => {
          clearTimeout(timer);
          resolve(isDurable);
        });
      });
    },
    async drain(patienceMs) {
      await written;
      await writing;
      for (const until = performance.now() + patienceMs; unwritten.length > 0 && performance.now() < until;) await delay(20);
      stopped = true;
      return unwritten;
    },
  };
}
