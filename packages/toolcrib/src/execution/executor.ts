import { JobLeftError } from '../durable/job-left-error.ts';
import { UnknownOutcomeError } from '../durable/unknown-outcome-error.ts';
import type { Answer } from '../model/call.ts';
import type { JsonObject } from '../model/json.ts';
import { noObserver, type Observer } from '../model/observer.ts';
import { createAdmission, type Admission, type AdmissionInput, type AdmittedCall } from './admission.ts';
import { CallRun, type AnswerSink, type CallRunParts } from './call-run.ts';
import { endCallSpan } from './call-span.ts';
import { createCallsInFlight, type CallNotesInput } from './calls-in-flight.ts';
import type { DurableCalls, GoOn } from './durable-calls.ts';
import { createInvoke, type InvokeInput } from './invoke.ts';
import type { Recorder } from './recorder.ts';
import { resumedCall } from './resumed-call.ts';
import type { RunningCall } from './running-call.ts';
import type { Shaper } from './shaper.ts';
import type { Turns } from './turns.ts';

export interface Executor extends Pick<Admission, 'admit' | 'admitTrusted'> {
  /** Invoke, shape, record. Never throws for what the tool or its source did: that is in the answer. */
  run(admitted: AdmittedCall): Promise<Answer>;
  /** The same without a promise. */
  start(admitted: AdmittedCall, sink: AnswerSink): void;
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

/** [EXEC-1] The one path of every call, whatever its source: find, decide, validate (`admit`); invoke, shape, record (`start`). */
export function createExecutor(input: ExecutorInput): Executor {
  const { inventory, recorder, tracer, shape, durableCalls, observer = noObserver } = input;
  const admission = createAdmission({ ...input, observer });
  const inFlight = createCallsInFlight(input.notes);
  const invoke = createInvoke({ sourceOf: input.sourceOf, admission, inFlight, observer });
  const parts: CallRunParts = { invoke, shape, recorder, inFlight, admission, observer, onFault: input.onFault?.bind(input) };

  function perform(admitted: AdmittedCall): Promise<Answer> {
    return new Promise((answered, failed) => new CallRun(parts, admitted, { answered, failed }).begin());
  }

  function run(admitted: AdmittedCall): Promise<Answer> {
    if (durableCalls === undefined || !admitted.call.isDurable) return perform(admitted);
    return durableCalls.run(
      admitted,
      () => perform(admitted),
      () => dismiss(admitted),
    );
  }

  function dismiss({ call }: AdmittedCall): void {
    if (call.span !== undefined) endCallSpan(call);
    admission.leave(call);
  }

  return {
    admit: admission.admit,
    admitTrusted: admission.admitTrusted,

    run,
    start(admitted, sink) {
      if (!admitted.call.isDurable) new CallRun(parts, admitted, sink).begin();
      else
        run(admitted).then(
          (answer) => sink.answered(answer),
          (error: unknown) => sink.failed(error),
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
