import type { CallInFlight } from '../store/in-flight.ts';
import type { Acceptance } from './acceptance.ts';
import { unknownRecordOf } from './recorder.ts';
import type { RunningCall } from './running-call.ts';

/** The calls that wait for their source, and the notes in the database that tell of them after a crash. */
export interface CallsInFlight {
  /** Its source is being waited for. Costs next to nothing. */
  add(call: RunningCall): void;
  /** Nobody waits for its source any more. */
  remove(call: RunningCall): void;
  /** Its record is durable, so its note can go. */
  recorded(call: RunningCall): void;
  find(callId: string): RunningCall | undefined;
  /** A copy, which stays as it is while calls come and go. */
  all(): RunningCall[];
  /** No call is left: nothing is written any more once this has resolved. */
  close(): Promise<void>;
}

export interface CallNotesInput {
  /** Which server this is. */
  server: string;
  write(begun: readonly CallInFlight[], ended: readonly string[]): Promise<void>;
  acceptance: Pick<Acceptance, 'suspend' | 'resume'>;
  /** Why a write failed, as a sentence for callers. */
  troubleOf(error: unknown): string | undefined;
  /** How often the server looks which calls are still waiting. */
  everyMs?: number;
}

/** The record may be waited for after the call's own time is over. */
const graceMs = 60_000;
const pauseAfterFailureMs = 500;

/**
 * [SEC-4] Notes the calls that take longer than a moment, so that a server which is killed leaves a note of what may have run. It writes all of
 * them together, and only those that were there at the look before: a call that ends within `everyMs` costs nothing, and none runs for
 * longer than twice that without a note. Without `notes` nothing is written.
 */
export function createCallsInFlight(notes?: CallNotesInput): CallsInFlight {
  const everyMs = notes?.everyMs ?? 20;
  // A list, because calls come and go all the time and are hardly ever searched for: a `Map` used like that keeps what was deleted until
  // the next full garbage collection.
  const calls: RunningCall[] = [];
  let timer: NodeJS.Timeout | undefined;
  let ended: string[] = [];
  let again = false;
  let failing = false;
  let looking: Promise<void> | undefined;
  let closed = false;

  async function look(input: CallNotesInput): Promise<void> {
    const begun: RunningCall[] = [];
    again = false;
    for (const call of calls) {
      // A durable call has a note already, with everything it takes to go on.
      if (call.noted === 'yes' || call.isDurable) continue;
      if (call.noted === 'soon') begun.push(call);
      else again = true;
      // A call that waits for its turn has not begun.
      if (call.begun) call.noted = call.noted === 'soon' ? 'yes' : 'soon';
    }
    const over = ended;
    ended = [];
    if (begun.length > 0 || over.length > 0 || failing) await write(input, begun, over);
    timer = undefined;
    if (again || ended.length > 0) later(failing ? pauseAfterFailureMs : everyMs);
  }

  async function write(input: CallNotesInput, begun: readonly RunningCall[], over: readonly string[]): Promise<void> {
    try {
      await input.write(
        begun.map((call) => noteOf(call, input.server)),
        over,
      );
      failing = false;
      input.acceptance.resume('in-flight');
    } catch (error) {
      input.acceptance.suspend('in-flight', input.troubleOf(error) ?? 'Calls cannot be noted: the database fails.');
      [failing, again] = [true, true];
      for (const call of begun) call.noted = 'soon';
      ended.push(...over);
    }
  }

  function later(ms: number): void {
    if (closed || notes === undefined) return;
    timer ??= setTimeout(() => {
      looking = look(notes);
    }, ms).unref();
  }

  return {
    add(call) {
      call.place = calls.push(call) - 1;
      again = true;
      later(everyMs);
    },
    remove(call) {
      if (calls[call.place] !== call) return;
      const last = calls.pop();
      if (last === undefined || last === call) return;
      last.place = call.place;
      calls[call.place] = last;
    },
    recorded(call) {
      if (call.noted !== 'yes') return;
      ended.push(call.callId);
      later(everyMs);
    },
    find: (callId) => calls.find((call) => call.callId === callId),
    all: () => [...calls],
    async close() {
      closed = true;
      clearTimeout(timer);
      await looking;
      // If that fails, the next start finds the records beside the notes.
      if (ended.length > 0 && !failing) await notes?.write([], ended).catch(() => undefined);
    },
  };
}

function noteOf(call: RunningCall, server: string): CallInFlight {
  const endsBy = call.startedAt + call.maxTimeoutMs + graceMs;
  return { call_id: call.callId, server, ends_by: endsBy, record: unknownRecordOf(call) };
}
