import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, CallRecord, CallVia } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import { noObserver, type Observer } from '../model/observer.ts';
import { originOfRefusal } from '../model/origin.ts';
import type { Principal } from '../model/principal.ts';
import { uuidV7 } from '../model/uuid-v7.ts';
import type { Acceptance } from './acceptance.ts';
import type { RunningCall } from './running-call.ts';
import { writeBacklog } from './write-backlog.ts';

/** Whoever waits for a record. */
export interface RecordWaiter {
  /**
   * Called once, and never within `add`. True once the record is durable: only then may the call be answered. False as soon as that takes
   * too long: the record is kept, and written as soon as it can be. Must not throw.
   */
  recorded(isDurable: boolean): void;
}

export interface Recorder {
  /** Takes a record down. Without a promise: there is one for every call. */
  add(record: CallRecord, waiter: RecordWaiter): void;
  /** The same, as a promise. */
  record(record: CallRecord): Promise<boolean>;
  /** Waits longer for a record that was not durable in time. */
  confirm(callId: string, patienceMs: number): Promise<boolean>;
  /** Resolves with the records that could not be written in time; none once everything recorded so far is written. */
  drain(patienceMs: number): Promise<readonly CallRecord[]>;
}

interface RecorderInput {
  /** Undefined where they are durable already. */
  append(records: CallRecord[]): Promise<void> | undefined;
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
  /** How many turns of the event loop a busy server collects for: a few where a write costs much, whatever is in it. */
  mostTurns?: number;
}

/**
 * [SEC-4] Writes together what finished in the same turn of the event loop, and in the next ones where more calls finish in each. One
 * write for many calls is what makes a durable record per call affordable; while one batch is being written, the next one collects.
 *
 * Records that cannot be written are kept in memory and tried again, in order and before anything newer. No call is accepted meanwhile, so
 * no more of them pile up than calls were running when it began.
 */
export function createRecorder(input: RecorderInput): Recorder {
  return new BatchRecorder(input);
}

class BatchRecorder implements Recorder {
  readonly #input: RecorderInput;
  readonly #mostTurns: number;
  #collecting: CallRecord[] = [];
  #waiters: RecordWaiter[] = [];
  #isWriting = false;
  /** In order; those at the front may be under way. */
  #unwritten: CallRecord[] = [];
  #isStopped = false;
  readonly #confirming = new Map<string, (isDurable: boolean) => void>();

  constructor(input: RecorderInput) {
    this.#input = input;
    this.#mostTurns = input.mostTurns ?? 6;
  }

  add(record: CallRecord, waiter: RecordWaiter): void {
    this.#waiters.push(waiter);
    if (this.#collecting.push(record) === 1 && !this.#isWriting) setImmediate(() => this.#collect(1, 1));
  }

  record(record: CallRecord): Promise<boolean> {
    return new Promise((resolve) => this.add(record, { recorded: resolve }));
  }

  confirm(callId: string, patienceMs: number): Promise<boolean> {
    if (!this.#unwritten.some(({ call_id }) => call_id === callId)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(callId, false), patienceMs);
      this.#confirming.set(callId, (isDurable) => {
        clearTimeout(timer);
        resolve(isDurable);
      });
    });
  }

  async drain(patienceMs: number): Promise<readonly CallRecord[]> {
    while (this.#isWriting || this.#collecting.length > 0) await delay(1);
    for (const until = performance.now() + patienceMs; this.#unwritten.length > 0 && performance.now() < until;) await delay(20);
    this.#isStopped = true;
    return this.#unwritten;
  }

  /** Goes on as long as every turn brings more, and not for long. */
  #collect(turn: number, before: number): void {
    const { length } = this.#collecting;
    if (turn < this.#mostTurns && length > before) setImmediate(() => this.#collect(turn + 1, length));
    else this.#flush();
  }

  #flush(): void {
    const [records, waiters] = [this.#collecting, this.#waiters];
    [this.#collecting, this.#waiters] = [[], []];
    if (this.#unwritten.length > 0) {
      // Another list: the one there is may be under way.
      this.#unwritten = [...this.#unwritten, ...records];
      return tell(waiters, false);
    }
    this.#unwritten = records;
    try {
      const writing = this.#append(records);
      if (writing !== undefined) return void this.#finish(writing, records.length, waiters);
    } catch (error) {
      this.#suspend(error);
      tell(waiters, false);
      return void this.#catchUp();
    }
    this.#done(records.length);
    this.#input.acceptance.resume('record');
    tell(waiters, true);
  }

  #append(records: CallRecord[]): Promise<void> | undefined {
    return timed(this.#input.observer ?? noObserver, () => this.#input.append(records));
  }

  /** One write at a time: what is added meanwhile is written after it. */
  async #finish(writing: Promise<void>, count: number, waiters: RecordWaiter[]): Promise<void> {
    const { acceptance, stuckMs = 2000 } = this.#input;
    let isReleased = false;
    const release = (isDurable: boolean) => {
      if (isReleased) return;
      isReleased = true;
      this.#isWriting = false;
      tell(waiters, isDurable);
      if (this.#collecting.length > 0) this.#flush();
    };
    const stuck = setTimeout(() => {
      acceptance.suspend('record', 'The database does not answer.');
      release(false);
    }, stuckMs);
    this.#isWriting = true;
    try {
      await writing;
    } catch (error) {
      clearTimeout(stuck);
      this.#suspend(error);
      release(false);
      return this.#catchUp();
    }
    clearTimeout(stuck);
    this.#done(count);
    if (this.#unwritten.length > 0) void this.#catchUp();
    else acceptance.resume('record');
    release(true);
  }

  #done(count: number): void {
    if (this.#confirming.size > 0) for (const { call_id } of this.#unwritten.slice(0, count)) this.#settle(call_id, true);
    // Almost always nothing has been added behind them.
    this.#unwritten = this.#unwritten.length === count ? [] : this.#unwritten.slice(count);
  }

  #settle(callId: string, isDurable: boolean): void {
    this.#confirming.get(callId)?.(isDurable);
    this.#confirming.delete(callId);
  }

  #suspend(error: unknown): void {
    const { acceptance, troubleOf, warn } = this.#input;
    acceptance.suspend('record', troubleOf(error) ?? 'Calls cannot be recorded: the log says why.');
    warn(`The record of ${this.#unwritten.length} calls could not be written and will be retried: ${String(error)}`);
  }

  async #catchUp(): Promise<void> {
    const isCaughtUp = await writeBacklog({
      left: () => this.#unwritten,
      write: async (records) => {
        await this.#append(records);
        this.#done(records.length);
      },
      isRejected: this.#input.isRejected,
      giveUp: (error) => this.#giveUp(error),
      isStopped: () => this.#isStopped,
    });
    if (isCaughtUp) this.#input.acceptance.resume('record');
  }

  #giveUp(error: unknown): void {
    const [record] = this.#unwritten.splice(0, 1);
    if (record === undefined) return;
    this.#input.warn(`A call cannot be recorded: ${String(error)}. ${JSON.stringify(record)}`);
    this.#settle(record.call_id, false);
  }
}

/** Passes on what `write` returns or throws. */
function timed(observer: Pick<Observer, 'recordWritten'>, write: () => Promise<void> | undefined): Promise<void> | undefined {
  const began = performance.now();
  const tellTime = (failed: boolean) => observer.recordWritten({ seconds: (performance.now() - began) / 1000, failed });
  const fail = (error: unknown) => {
    tellTime(true);
    throw error;
  };
  try {
    const writing = write();
    if (writing !== undefined) return writing.then(() => tellTime(false), fail);
  } catch (error) {
    fail(error);
  }
  tellTime(false);
  return undefined;
}

function tell(waiters: readonly RecordWaiter[], isDurable: boolean): void {
  for (const waiter of waiters) waiter.recorded(isDurable);
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
    door: call.via?.door ?? null,
    agent: call.via?.agent ?? null,
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
  via: CallVia | undefined;
}

/** [SEC-4] The record of a call that was refused. */
export function refusalRecord(principal: Principal, { asked, error, found, revision, via }: Refusal): CallRecord {
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
    door: via?.door ?? null,
    agent: via?.agent ?? null,
  };
}
