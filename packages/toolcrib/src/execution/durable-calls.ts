import { createSteps } from '../durable/create-steps.ts';
import type { Durable, Job, StepRecords } from '../durable/durable.ts';
import { JobLeftError } from '../durable/job-left-error.ts';
import type { Steps } from '../durable/steps.ts';
import { UnknownOutcomeError } from '../durable/unknown-outcome-error.ts';
import type { Answer } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { open, seal } from '../secrets/seal.ts';
import type { Store } from '../store/store.ts';
import type { AdmittedCall } from './admitted-call.ts';
import { answerRow, keepForMs } from './answer-row.ts';
import { leftAnswer } from './answer.ts';
import { readJobContent, writeJobContent, type JobContent } from './job-content.ts';
import type { RunningCall } from './running-call.ts';

export interface DurableCalls {
  /**
   * Does `perform` as a job, with the call's steps in place, and keeps its answer. Where it cannot be begun, it is dismissed, and a `CribError`
   * says so.
   */
  run(admitted: AdmittedCall, perform: () => Promise<Answer>, dismiss: () => void): Promise<Answer>;
  /** From here on, calls that were left are gone on with. */
  recover(goOn: GoOn): Promise<void>;
  /** No further step is begun: what has not ended is left to a later start, or to another server. */
  leave(): void;
  /** Aborts then. */
  readonly leaving: AbortSignal;
  /** The ids of all calls that have not ended, whoever is at them. */
  unfinished(): Promise<ReadonlySet<string>>;
}

/** Finds the tool of a call that was left, and performs the call once `prepare` has been given it; `UnknownOutcomeError` where that cannot be. */
export type GoOn = (callId: string, content: JobContent, prepare: (admitted: AdmittedCall) => Promise<void>) => Promise<Answer>;

interface DurableCallsInput {
  durable: Durable;
  keyRing: KeyRing;
  store: Store;
  /** Ends a call that cannot be gone on with: nobody knows how far it came. */
  abandon(callId: string, reason: string): Promise<void>;
  warn(message: string): void;
}

/** [POLL-2] [WF-2] Calls that take so long, or do so much, that they must outlive their server. Their answers are always kept. */
export function createDurableCalls({ durable, keyRing, store, abandon, warn }: DurableCallsInput): DurableCalls {
  const leaving = new AbortController();

  function stepsOf(call: RunningCall, records: StepRecords): Steps {
    const place = (step: string) => ({ id: call.callId, field: `step ${step}` });
    return createSteps({
      records,
      seal: (text, step) => seal(keyRing, text, place(step)),
      open: (sealed, step) => open(keyRing, sealed, place(step)),
      leaving: leaving.signal,
      onLeft: () => call.leave(),
      isLeft: () => call.isLeft,
    });
  }

  async function prepare({ call, args }: AdmittedCall, records: StepRecords): Promise<void> {
    await store.answers.ensure(answerRow(call, args, null));
    call.steps = stepsOf(call, records);
  }

  async function keep(answer: Answer): Promise<void> {
    await store.answers.finish(answer.call_id, JSON.stringify(answer), Date.now() + keepForMs);
  }

  function contentOf({ id, input }: Job): JobContent {
    try {
      return readJobContent(open(keyRing, input, inputOf(id)));
    } catch (cause) {
      warn(`The call ${id} cannot be gone on with: ${String(cause)}`);
      throw new UnknownOutcomeError(
        'The server stopped while this call ran, and what it had noted cannot be read: it may have taken effect',
        { cause },
      );
    }
  }

  async function resume(job: Job, records: StepRecords, goOn: GoOn): Promise<void> {
    const kept = await store.answers.get(job.id);
    // It was answered, and only not forgotten any more.
    if (kept !== undefined && kept.body !== null) return;
    try {
      const content = contentOf(job);
      await keep(await goOn(job.id, content, (admitted) => prepare(admitted, records)));
    } catch (error) {
      if (!(error instanceof UnknownOutcomeError)) throw error;
      await abandon(job.id, error.message);
    }
  }

  return {
    async run(admitted, perform, dismiss) {
      const { call, args } = admitted;
      const { callId } = call;
      let refused: unknown;
      let answer: Answer | undefined;
      try {
        const input = seal(keyRing, writeJobContent(call, args), inputOf(callId));
        await durable.run({ id: callId, input }, async (records) => {
          try {
            await prepare(admitted, records);
          } catch (error) {
            // Nothing was done: the job is over, and nobody must come back to it.
            refused = error;
            return;
          }
          answer = await perform();
          await keep(answer);
        });
      } catch (error) {
        if (error instanceof JobLeftError) return leftAnswer(call);
        // It is done; whoever comes next will find that out and keep its answer.
        if (answer !== undefined) warn(`The answer of call ${callId} could not be kept: ${String(error)}`);
        else refused ??= error;
      }
      if (answer !== undefined) return answer;
      dismiss();
      warn(`The call ${callId} could not be noted, and was not begun: ${String(refused)}`);
      throw new CribError('SERVICE_UNAVAILABLE', 'The call could not be noted, and was not begun: try again', { cause: refused });
    },

    recover: (goOn) =>
      durable.recover((job, records) =>
        resume(job, records, goOn).catch((error: unknown) => {
          if (!(error instanceof JobLeftError)) warn(`The call ${job.id} could not be gone on with: ${String(error)}`);
          throw error;
        }),
      ),

    leave: () => leaving.abort(),
    leaving: leaving.signal,
    unfinished: () => durable.unfinished(),
  };
}

function inputOf(id: string): { id: string; field: string } {
  return { id, field: 'job' };
}
