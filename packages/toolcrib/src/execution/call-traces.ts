import type { CallInFlight } from '../store/in-flight.ts';
import type { Acceptance } from './acceptance.ts';
import { unknownRecordOf } from './call-record.ts';
import type { RunningCall } from './running-call.ts';
import type { RunningCalls } from './running-calls.ts';

export interface CallTraces {
  /** A source is being waited for. Costs next to nothing. */
  noticed(): void;
  /** Its record is durable. */
  ended(call: RunningCall): void;
  /** No call is left: nothing is written any more once this has resolved. */
  close(): Promise<void>;
}

export interface CallTracesInput {
  /** Which server this is. */
  server: string;
  write(begun: readonly CallInFlight[], ended: readonly string[]): Promise<void>;
  acceptance: Pick<Acceptance, 'suspend' | 'resume'>;
  /** Why a write failed, as a sentence for callers. */
  troubleOf(error: unknown): string | undefined;
  /** How often it is looked who is still waiting. */
  everyMs?: number;
}

/** The record is waited for after the time of the call is over. */
const graceMs = 60_000;
const pauseAfterFailureMs = 500;

/**
 * [SEC-4] Notes the calls that take longer than a moment, so that a server which is killed leaves a trace of what may have run. All of them
 * together, and only those that were there at the look before: a call that ends within `everyMs` costs nothing, and none runs for longer
 * than twice that without being noted.
 */
export function createCallTraces(input: CallTracesInput, runningCalls: RunningCalls): CallTraces {
  const { server, acceptance, everyMs = 20 } = input;
  let timer: NodeJS.Timeout | undefined;
  let ended: string[] = [];
  let again = false;
  let failing = false;
  let looking: Promise<void> | undefined;
  let closed = false;

  function lineOf(call: RunningCall): CallInFlight {
    const endsBy = call.startedAt + call.maxTimeoutMs + graceMs;
    return { call_id: call.callId, server, ends_by: endsBy, record: unknownRecordOf(call) };
  }

  async function look(): Promise<void> {
    const begun: RunningCall[] = [];
    again = false;
    for (const call of runningCalls.all()) {
      // What goes on after a crash has been noted, with all it takes to go on.
      if (call.noted === 'yes' || call.isDurable) continue;
      if (call.noted === 'soon') begun.push(call);
      else again = true;
      // What waits for its turn has not been begun.
      if (call.begun) call.noted = call.noted === 'soon' ? 'yes' : 'soon';
    }
    const over = ended;
    ended = [];
    if (begun.length > 0 || over.length > 0 || failing) await write(begun, over);
    timer = undefined;
    if (again || ended.length > 0) later(failing ? pauseAfterFailureMs : everyMs);
  }

  async function write(begun: readonly RunningCall[], over: readonly string[]): Promise<void> {
    try {
      await input.write(begun.map(lineOf), over);
      failing = false;
      acceptance.resume('in-flight');
    } catch (error) {
      acceptance.suspend('in-flight', input.troubleOf(error) ?? 'Calls cannot be noted: the database fails.');
      [failing, again] = [true, true];
      for (const call of begun) call.noted = 'soon';
      ended.push(...over);
    }
  }

  function later(ms: number): void {
    if (closed) return;
    timer ??= setTimeout(() => {
      looking = look();
    }, ms).unref();
  }

  return {
    noticed() {
      again = true;
      later(everyMs);
    },
    ended(call) {
      if (call.noted !== 'yes') return;
      ended.push(call.callId);
      later(everyMs);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await looking;
      // Where that fails, the next start finds the records beside the lines.
      if (ended.length > 0 && !failing) await input.write([], ended).catch(() => undefined);
    },
  };
}
