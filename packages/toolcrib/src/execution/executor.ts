import { JobLeftError } from '../durable/job-left-error.ts';
import { UnknownOutcomeError } from '../durable/unknown-outcome-error.ts';
import type { Answer } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import { noObserver, type Observer } from '../model/observer.ts';
import { createAdmission, type Admission, type AdmissionInput, type AdmittedCall } from './admission.ts';
import { answerFromError, calledBy, unknownAnswer } from './answer.ts';
import { endCallSpan } from './call-span.ts';
import { createCallsInFlight, type CallNotesInput } from './calls-in-flight.ts';
import type { DurableCalls, GoOn } from './durable-calls.ts';
import { createInvoke, type InvokeInput } from './invoke.ts';
import { originOf } from './origin-of.ts';
import { outcomeOf } from './outcome-of.ts';
import { recordOf, type Recorder } from './recorder.ts';
import { resumedCall } from './resumed-call.ts';
import type { RunningCall } from './running-call.ts';
import type { Shaper } from './shaper.ts';
import type { Turns } from './turns.ts';

export interface Executor extends Pick<Admission, 'admit' | 'admitTrusted'> {
  /** Invoke, shape, record. Never throws for what the tool or its source did: that is in the answer. */
  run(admitted: AdmittedCall): Promise<Answer>;
  /** [POLL-2] [WF-2] Goes on with a call that was admitted before: neither limits nor rules are asked again. */
  goOn: GoOn;
  /** Gives back what `admit` took, for a call that will not be run after all. */
  dismiss(admitted: AdmittedCall): void;
  /** The call while it waits for its turn or its source, wherever it was started. */
  running(callId: string): RunningCall | undefined;
  /** Resolves when no admitted call is left; from then on none is admitted. */
  idle(): Promise<void>;
  /** Begins no further step of durable calls. */
  leaveDurable(): void;
  /** Ends every running call; their answers are still recorded. Durable calls are left to others. */
  cancelAll(): void;
  /** [EXEC-7] How many calls wait, and which sources are not asked for a while. */
  readonly load: Pick<Turns, 'waiting' | 'breakerOf' | 'disturbed' | 'forget'>;
}

export interface ExecutorInput extends Omit<AdmissionInput, 'observer'>, Pick<InvokeInput, 'sourceOf'> {
  shape: Shaper;
  recorder: Recorder;
  /** [SEC-4] Where running calls are noted; without it, a server that is killed leaves no trace of them. */
  notes?: CallNotesInput;
  /** [POLL-2] [WF-2] Runs calls that outlive their server; without it, none does. */
  durableCalls?: DurableCalls | undefined;
  /** Resolves when every source has been started, or could not be. */
  sourcesReady?(): Promise<void>;
  observer?: Pick<Observer, 'callFinished' | 'callNoticed' | 'callFailedBySource'> | undefined;
  /** Told about a failure of Toolcrib itself, and in which call. */
  onFault?(error: unknown, callId: string): void;
}

/** How much of the time it has left a call waits for a record that cannot be written. */
const confirmWithinMs = 5000;

/** [EXEC-1] The one path of every call, whatever its source: find, decide, validate (`admit`); invoke, shape, record (`run`). */
export function createExecutor(input: ExecutorInput): Executor {
  const { inventory, recorder, tracer, shape, durableCalls, observer = noObserver } = input;
  const admission = createAdmission({ ...input, observer });
  const inFlight = createCallsInFlight(input.notes);
  const invoke = createInvoke({ sourceOf: input.sourceOf, admission, inFlight, observer });

  async function perform({ call, args }: AdmittedCall): Promise<Answer> {
    let answer: Answer | undefined;
    try {
      answer = await invokeAndShape(call, args);
      const record = recordOf(call, answer);
      const patienceMs = call.begun ? Math.min(call.timeoutMs - answer.execution_time_ms, confirmWithinMs) : 0;
      const isDurable = (await recorder.record(record)) || (patienceMs > 0 && (await recorder.confirm(call.callId, patienceMs)));
      observer.callFinished(record);
      // Until its record is durable, the note of a call tells of it.
      if (isDurable) inFlight.recorded(call);
      // Where no source was asked, that is the truth even without a record.
      if (isDurable || !call.begun) return answer;
      // A refusal would be retried and the tool run twice; an unrecorded success must not be acknowledged.
      return unknownAnswer(calledBy(call), 'The tool was called, but the call could not be recorded yet: its outcome is not confirmed');
    } finally {
      if (call.span !== undefined) endCallSpan(call, answer);
      admission.leave(call);
    }
  }

  /** Throws only for a call that this server leaves to another one. */
  async function invokeAndShape(call: RunningCall, args: JsonObject): Promise<Answer> {
    const began = performance.now() - (call.resumed ? Date.now() - call.startedAt : 0);
    try {
      const invoked = invoke(call, args);
      const output = invoked instanceof Promise ? await invoked : invoked;
      call.turn?.end({ kind: 'answered' });
      const shaped = shape(call, output, elapsedMs(began));
      return shaped instanceof Promise ? await shaped : shaped;
    } catch (error) {
      if (error instanceof JobLeftError) throw error;
      return answerFromError(call, failed(call, error), elapsedMs(began));
    } finally {
      inFlight.remove(call);
    }
  }

  function failed(call: RunningCall, error: unknown): CribError {
    if (!(error instanceof CribError)) {
      input.onFault?.(error, call.callId);
      return new CribError('INTERNAL', `${call.tool.name} failed inside Toolcrib; the server's log has call ${call.callId}`);
    }
    call.turn?.end(outcomeOf(error, call));
    // A call that never had its turn was failed by nobody.
    if (!call.queued && originOf(error, call) === 'source') observer.callFailedBySource(error.code, call.tool);
    call.failure = error;
    return error;
  }

  function dismiss({ call }: AdmittedCall): void {
    if (call.span !== undefined) endCallSpan(call);
    admission.leave(call);
  }

  return {
    admit: admission.admit,
    admitTrusted: admission.admitTrusted,

    run(admitted) {
      if (durableCalls === undefined || !admitted.call.isDurable) return perform(admitted);
      return durableCalls.run(
        admitted,
        () => perform(admitted),
        () => dismiss(admitted),
      );
    },

    async goOn(callId, content, prepare) {
      if (admission.isClosed()) throw new JobLeftError();
      const tool = inventory.find(content.tool_id);
      if (tool?.state !== 'active' || tool.definition_hash !== content.definition_hash) throw new UnknownOutcomeError(toolHasChanged);
      const ready = Promise.resolve(input.sourcesReady?.());
      const admitted = { call: resumedCall({ callId, content, tool, ready, tracer }), args: content.arguments as JsonObject };
      admission.readmit();
      try {
        await prepare(admitted);
      } catch (error) {
        dismiss(admitted);
        throw error;
      }
      return perform(admitted);
    },

    load: admission.turns,
    dismiss,
    running: inFlight.find,
    async idle() {
      await admission.close();
      await inFlight.close();
    },
    leaveDurable() {
      durableCalls?.leave();
      // Calls that wait for a place are in no step.
      for (const call of inFlight.all()) if (call.steps !== undefined && call.queued) call.leave();
    },
    cancelAll() {
      for (const call of inFlight.all()) {
        if (call.steps === undefined) call.end('cancelled');
        else call.leave();
      }
    },
  };
}

const toolHasChanged =
  'The tool was changed or removed while the server was stopped, so the call could not be resumed. It may have taken effect: check before you try again.';

/** Milliseconds to a tenth of a microsecond: more digits would be noise in every answer. */
function elapsedMs(began: number): number {
  return Math.round((performance.now() - began) * 10_000) / 10_000;
}
