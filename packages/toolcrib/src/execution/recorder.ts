import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, CallRecord } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import { noObserver, type Observer } from '../model/observer.ts';
import { originOfRefusal } from '../model/origin.ts';
import type { Principal } from '../model/principal.ts';
import { uuidV7 } from '../model/uuid-v7.ts';
import type { Acceptance } from './acceptance.ts';
import type { RunningCall } from './running-call.ts';
import { writeBacklog } from './write-backlog.ts';

export interface Recorder {
  /**
   * True once the record is durable: only then may the call be answered. False as soon as that takes too long: the record is kept, and
   * written as soon as it can be.
   */
  record(record: CallRecord): Promise<boolean>;
  /** Waits longer for a record that was not durable in time. */
  confirm(callId: string, patienceMs: number): Promise<boolean>;
  /** Resolves with the records that could not be written in time; none once everything recorded so far is written. */
  drain(patienceMs: number): Promise<readonly CallRecord[]>;
}

interface RecorderInput {
  append(records: CallRecord[]): Promise<void>;
  /** Suspended while the record cannot be written. */
  acceptance: Pick<Acceptance, 'suspend' | 'resume'>;
  /** Why a write failed, as a sentence for callers. */
  troubleOf(error: unknown): string | undefined;
  /** Whether a write failed because of its content, so that it will never succeed. */
  isRejected(error: unknown): boolean;
  warn(message: string): void;
  observer?: Pick<Observer, 'recordWritten'> | undefined;
  /** After how long a write counts as stuck. */
  stuckMs?: number;
}

/** How many turns of the event loop a busy server collects for. */
const mostTurns = 6;

/**
 * [SEC-4] Writes together what finished in the same turn of the event loop, and in the next ones where more calls finish in each. One
 * transaction for many calls is what makes a durable record per call affordable; while one batch is being written, the next one collects.
 *
 * Records that cannot be written are kept in memory and tried again, in order and before anything newer. No call is accepted meanwhile, so
 * no more of them pile up than calls were running when it began.
 */
export function createRecorder(input: RecorderInput): Recorder {
  const { acceptance, observer = noObserver, stuckMs = 2000 } = input;
  let collecting: CallRecord[] = [];
  let written: Promise<boolean> | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  /** In order; those at the front may be under way. */
  let unwritten: CallRecord[] = [];
  let stopped = false;
  const waiting = new Map<string, (isDurable: boolean) => void>();

  /** Goes on as long as every turn brings more, and not for long. */
  async function collected(): Promise<void> {
    for (let turns = 0, before = 0; turns < mostTurns && collecting.length > before; turns++) {
      before = collecting.length;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  const append = (records: CallRecord[]) => timed(observer, () => input.append(records));

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
    const { promise: outcome, resolve: tell } = Promise.withResolvers<boolean>();
    writing = outcome;
    void tryToWrite(records, tell);
    return outcome;
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
    input.warn(`The record of ${unwritten.length} calls could not be written and will be retried: ${String(error)}`);
  }

  async function catchUp(): Promise<void> {
    const isCaughtUp = await writeBacklog({
      left: () => unwritten,
      async write(records) {
        await append(records);
        done(records.length);
      },
      isRejected: input.isRejected,
      giveUp,
      isStopped: () => stopped,
    });
    if (isCaughtUp) acceptance.resume('record');
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

async function timed(observer: Pick<Observer, 'recordWritten'>, write: () => Promise<void>): Promise<void> {
  const began = performance.now();
  let failed = true;
  try {
    await write();
    failed = false;
  } finally {
    observer.recordWritten({ seconds: (performance.now() - began) / 1000, failed });
  }
}

type Outcome = Pick<Answer, 'execution_time_ms' | 'status'> & { error: Pick<NonNullable<Answer['error']>, 'code' | 'origin'> | null };

/** [SEC-4] The record of a call that was made. */
export function recordOf(call: RunningCall, answer: Outcome): CallRecord {
  return {
    call_id: call.callId,
    started_at: call.startedAt,
    duration_us: Math.round(answer.execution_time_ms * 1000),
    issuer: call.principal.issuer,
    subject: call.principal.subject,
    client: call.principal.client,
    tool_id: call.tool.tool_id,
    tool: call.tool.name,
    source_id: call.tool.source_id,
    definition_hash: call.tool.definition_hash,
    policies: call.policies,
    policy_revision: call.policyRevision,
    status: answer.status,
    error_code: answer.error?.code ?? null,
    user_name: call.principal.name,
    error_origin: answer.error?.origin ?? null,
  };
}

/** [SEC-4] The record of a call whose server was killed before its end. */
export function unknownRecordOf(call: RunningCall): CallRecord {
  return recordOf(call, { execution_time_ms: 0, status: 'unknown', error: { code: 'SERVICE_UNAVAILABLE', origin: 'gateway' } });
}

interface Refusal {
  /** The name that was asked for; there may be no such tool. */
  asked: string;
  error: unknown;
  /** The call, where the tool was found and the caller may use it. */
  found?: RunningCall | undefined;
  /** Of the rules that decided. */
  revision: number;
}

/** [SEC-4] The record of a call that was refused. */
export function refusalRecord(principal: Principal, { asked, error, found, revision }: Refusal): CallRecord {
  return {
    call_id: found?.callId ?? uuidV7(),
    started_at: found?.startedAt ?? Date.now(),
    duration_us: 0,
    issuer: principal.issuer,
    subject: principal.subject,
    client: principal.client,
    tool_id: found?.tool.tool_id ?? null,
    tool: found?.tool.name ?? asked.slice(0, 512),
    source_id: found?.tool.source_id ?? null,
    definition_hash: found?.tool.definition_hash ?? null,
    policies: found?.policies ?? '',
    policy_revision: found?.policyRevision ?? revision,
    status: 'failed',
    error_code: error instanceof CribError ? error.code : 'INTERNAL',
    user_name: principal.name,
    error_origin: error instanceof CribError ? originOfRefusal(error) : 'gateway',
  };
}
