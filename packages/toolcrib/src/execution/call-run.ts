import { JobLeftError } from '../durable/job-left-error.ts';
import type { Answer, CallRecord, ToolOutput } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import type { Observer } from '../model/observer.ts';
import type { Admission, AdmittedCall } from './admission.ts';
import { answerFromError, calledBy, unknownAnswer } from './answer.ts';
import { endCallSpan } from './call-span.ts';
import type { CallsInFlight } from './calls-in-flight.ts';
import type { Invoke } from './invoke.ts';
import { originOf } from './origin-of.ts';
import { outcomeOf } from './outcome-of.ts';
import { recordOf, type Recorder, type RecordWaiter } from './recorder.ts';
import type { CallWaiter, RunningCall } from './running-call.ts';
import type { Shaper } from './shaper.ts';

/** Takes the answer of a call. Exactly one of the two is called, once. */
export interface AnswerSink {
  answered(answer: Answer): void;
  /** Only for a call that this server leaves to another one, and for a failure of Toolcrib itself. */
  failed(error: unknown): void;
}

export interface CallRunParts {
  invoke: Invoke;
  shape: Shaper;
  recorder: Recorder;
  inFlight: CallsInFlight;
  admission: Pick<Admission, 'leave'>;
  observer: Pick<Observer, 'callFinished' | 'callFailedBySource'>;
  /** Told about a failure of Toolcrib itself, and in which call. */
  onFault: ((error: unknown, callId: string) => void) | undefined;
}

/** How much of the time it has left a call waits for a record that cannot be written. */
const confirmWithinMs = 5000;

/**
 * The second half of a call's way: invoke, shape, record. One object that is told what comes next, because a promise for each stage would
 * cost more than the stages.
 */
export class CallRun implements CallWaiter, RecordWaiter {
  readonly #parts: CallRunParts;
  readonly #call: RunningCall;
  readonly #args: JsonObject;
  readonly #sink: AnswerSink;
  readonly #began: number;
  #answer: Answer | undefined;
  #record: CallRecord | undefined;

  constructor(parts: CallRunParts, { call, args }: AdmittedCall, sink: AnswerSink) {
    this.#parts = parts;
    this.#call = call;
    this.#args = args;
    this.#sink = sink;
    this.#began = performance.now() - (call.resumed ? Date.now() - call.startedAt : 0);
  }

  begin(): void {
    try {
      this.#parts.invoke.begin(this.#call, this.#args, this);
    } catch (error) {
      this.failed(error);
    }
  }

  recover(error: unknown): Promise<ToolOutput> | undefined {
    return this.#parts.invoke.retry(this.#call, this.#args, error);
  }

  answered(output: ToolOutput): void {
    const call = this.#call;
    call.turn?.end({ kind: 'answered' });
    call.rawText = output.raw_text;
    let shaped: Answer | Promise<Answer>;
    try {
      shaped = this.#parts.shape(call, output, this.#elapsedMs());
    } catch (error) {
      return this.failed(error);
    }
    if (!(shaped instanceof Promise)) return this.#end(shaped);
    shaped.then(
      (answer) => this.#end(answer),
      (error: unknown) => this.failed(error),
    );
  }

  failed(error: unknown): void {
    const { inFlight } = this.#parts;
    if (error instanceof JobLeftError) {
      inFlight.remove(this.#call);
      this.#leave();
      this.#sink.failed(error);
    } else this.#end(answerFromError(this.#call, this.#explained(error), this.#elapsedMs()));
  }

  #explained(error: unknown): CribError {
    const call = this.#call;
    if (!(error instanceof CribError)) {
      this.#parts.onFault?.(error, call.callId);
      return new CribError('INTERNAL', `${call.tool.name} failed inside Toolcrib; the server's log has call ${call.callId}`);
    }
    call.turn?.end(outcomeOf(error, call));
    // A call that never had its turn was failed by nobody.
    if (!call.queued && originOf(error, call) === 'source') this.#parts.observer.callFailedBySource(error.code, call.tool);
    call.failure = error;
    return error;
  }

  #end(answer: Answer): void {
    this.#parts.inFlight.remove(this.#call);
    this.#answer = answer;
    this.#record = recordOf(this.#call, answer);
    this.#parts.recorder.add(this.#record, this);
  }

  recorded(isDurable: boolean): void {
    const call = this.#call;
    const answer = this.#answer as Answer;
    const patienceMs = call.begun ? Math.min(call.timeoutMs - answer.execution_time_ms, confirmWithinMs) : 0;
    if (isDurable || patienceMs <= 0) return this.#tell(answer, isDurable);
    this.#parts.recorder.confirm(call.callId, patienceMs).then(
      (isConfirmed) => this.#tell(answer, isConfirmed),
      () => this.#tell(answer, false),
    );
  }

  #tell(answer: Answer, isDurable: boolean): void {
    const call = this.#call;
    const { observer, inFlight } = this.#parts;
    try {
      observer.callFinished(this.#record as CallRecord);
      // Until its record is durable, the note of a call tells of it.
      if (isDurable) inFlight.recorded(call);
      this.#leave();
    } catch (error) {
      // Others wait for the same batch of the record.
      return this.#sink.failed(error);
    }
    // Where no source was asked, that is the truth even without a record.
    if (isDurable || !call.begun) this.#sink.answered(answer);
    // A refusal would be retried and the tool run twice; an unrecorded success must not be acknowledged.
    else this.#sink.answered(unknownAnswer(calledBy(call), notConfirmed));
  }

  #leave(): void {
    const call = this.#call;
    if (call.span !== undefined) endCallSpan(call, this.#answer);
    this.#parts.admission.leave(call);
  }

  /** Milliseconds to a tenth of a microsecond: more digits would be noise in every answer. */
  #elapsedMs(): number {
    return Math.round((performance.now() - this.#began) * 10_000) / 10_000;
  }
}

const notConfirmed = 'The tool was called, but the call could not be recorded yet: its outcome is not confirmed';
