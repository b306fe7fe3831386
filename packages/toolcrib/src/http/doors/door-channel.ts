import type { AdmittedCall } from '../../execution/admission.ts';
import { answerJson } from '../../execution/answer-json.ts';
import type { AnswerSink } from '../../execution/call-run.ts';
import type { RunningCall } from '../../execution/running-call.ts';
import type { Answer } from '../../model/call.ts';
import { knownCaller, parsePlainCall, type PlainCallsInput } from '../plain-calls.ts';
import { failedBefore, usualWay, type Answers, type Calls } from './door-message.ts';

export type DoorChannelInput = Pick<PlainCallsInput, 'executor' | 'verifier' | 'closing'>;

/** The main thread's end of what it shares with one thread: makes the calls that this thread has taken, and answers many of them at once. */
export class DoorChannel {
  readonly #input: DoorChannelInput;
  readonly #post: (answers: Answers) => void;
  readonly #running = new Map<number, DoorCall>();
  readonly #failures = new Map<number, { error: unknown }>();
  #answers: Answers = [];

  constructor(input: DoorChannelInput, post: (answers: Answers) => void) {
    this.#input = input;
    this.#post = post;
  }

  hear(calls: Calls): void {
    for (let index = 0; index < calls.length; index += 3) {
      const id = calls[index] as number;
      const authorization = calls[index + 1];
      if (typeof authorization === 'string') this.#begin(id, authorization, calls[index + 2] as string);
      else this.#leave(id);
    }
  }

  /** What a call failed with that is passed on now. There is none where its caller has left meanwhile. */
  takeFailure(id: number): { error: unknown } | undefined {
    const failure = this.#failures.get(id);
    this.#failures.delete(id);
    return failure;
  }

  /** The thread is gone, and all of its callers with it. */
  leaveAll(): void {
    for (const id of this.#running.keys()) this.#leave(id);
    this.#failures.clear();
  }

  #begin(id: number, authorization: string, body: string): void {
    const { executor, verifier, closing } = this.#input;
    const principal = closing.aborted ? undefined : knownCaller(verifier, authorization);
    const request = principal === undefined ? undefined : parsePlainCall(body);
    if (principal === undefined || request === undefined) return this.#answer(id, usualWay);
    const call = new DoorCall(this, id);
    this.#running.set(id, call);
    try {
      const admitted = executor.admit(principal, request);
      if (!(admitted instanceof Promise)) return call.run(executor, admitted);
      admitted.then((one) => call.run(executor, one)).catch((error: unknown) => call.failed(error));
    } catch (error) {
      call.failed(error);
    }
  }

  /** Nobody is there to fetch an answer or a failure once the caller has left. */
  answered(id: number, text: string): void {
    if (this.#running.delete(id)) this.#answer(id, text);
  }

  failed(id: number, error: unknown): void {
    if (!this.#running.delete(id)) return;
    this.#failures.set(id, { error });
    this.#answer(id, failedBefore);
  }

  #leave(id: number): void {
    this.#running.get(id)?.leave();
    this.#running.delete(id);
    this.#failures.delete(id);
  }

  /** Records are written together, so that answers come together, too. */
  #answer(id: number, answer: string | number): void {
    if (this.#answers.push(id, answer) > 2) return;
    process.nextTick(() => {
      const answers = this.#answers;
      this.#answers = [];
      this.#post(answers);
    });
  }
}

/** A call whose caller is connected to another thread. */
class DoorCall implements AnswerSink {
  readonly #channel: DoorChannel;
  readonly #id: number;
  #call: RunningCall | undefined;
  #isLeft = false;

  constructor(channel: DoorChannel, id: number) {
    this.#channel = channel;
    this.#id = id;
  }

  run(executor: DoorChannelInput['executor'], admitted: AdmittedCall): void {
    this.#call = admitted.call;
    executor.start(admitted, this);
    if (this.#isLeft) this.leave();
  }

  leave(): void {
    this.#isLeft = true;
    const call = this.#call;
    if (call?.pending === true && !call.isDurable) call.end('cancelled');
  }

  answered(answer: Answer): void {
    if (!this.#isLeft) this.#channel.answered(this.#id, answerJson(answer, this.#call?.rawText));
  }

  failed(error: unknown): void {
    this.#channel.failed(this.#id, error);
  }
}
