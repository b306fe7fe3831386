import { createSteps } from '../durable/create-steps.ts';
import type { Durable, Job, StepRecords } from '../durable/durable.ts';
import { JobLeftError } from '../durable/job-left-error.ts';
import type { Steps } from '../durable/steps.ts';
import { UnknownOutcomeError } from '../durable/unknown-outcome-error.ts';
import { restorePrincipal } from '../identity/kept-principal.ts';
import type { Answer } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { open, seal } from '../secrets/seal.ts';
import type { Store } from '../store/store.ts';
import type { AdmittedCall } from './admission.ts';
import type { AnswerKeeper } from './answer-keeper.ts';
import { answerRow, beginWithinMs } from './answer-row.ts';
import { leftAnswer } from './answer.ts';
import { maySendAgain } from './lost-answer.ts';
import { readJobContent, writeJobContent, type JobContent } from './job-content.ts';
import type { RunningCall } from './running-call.ts';

export interface DurableCalls {
  /**
   * Does `perform` as a job, with the call's steps in place, and keeps its answer. Where it cannot be begun, it is dismissed, and a `CribError`
   * says so.
   */
  run(admitted: AdmittedCall, perform: () => Promise<Answer>, dismiss: () => void): Promise<Answer>;
  /** Resumes calls that were left. `giveUp` ends one that cannot be resumed: nobody knows how far it came. */
  recover(goOn: GoOn, giveUp: GiveUp): Promise<void>;
  /** Begins no further step: calls that have not ended are left to a later start or another server. */
  leave(): void;
  /** Aborts then. */
  readonly leaving: AbortSignal;
  /** The ids of all calls that have not ended, on any server. */
  unfinished(): Promise<ReadonlySet<string>>;
}

/** Finds the tool of a call that was left, and performs the call once `prepare` has been given it; `UnknownOutcomeError` where that cannot be. */
export type GoOn = (callId: string, content: JobContent, prepare: (admitted: AdmittedCall) => Promise<void>) => Promise<Answer>;

type GiveUp = (callId: string, reason: string) => Promise<void>;

interface DurableCallsInput {
  durable: Durable;
  keyRing: KeyRing;
  store: Store;
  answerKeeper: AnswerKeeper;
  warn(message: string): void;
}

/** [POLL-2] [WF-2] Calls that take so long, or do so much, that they must outlive their server. Their answers are always kept. */
export function createDurableCalls({ durable, keyRing, store, answerKeeper, warn }: DurableCallsInput): DurableCalls {
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
    if (!(await store.answers.begin(answerRow(call, args, null)))) throw new AlreadyAnsweredError();
    call.steps = stepsOf(call, records);
  }

  function contentOf({ id, input }: Job): JobContent {
    try {
      return readJobContent(open(keyRing, input, inputOf(id)));
    } catch (cause) {
      warn(`The call ${id} cannot be resumed: ${String(cause)}`);
      throw new UnknownOutcomeError('The server stopped while this call ran, and its notes cannot be read: it may have taken effect', {
        cause,
      });
    }
  }

  async function resume(job: Job, records: StepRecords, goOn: GoOn, giveUp: GiveUp): Promise<void> {
    const kept = await store.answers.get(job.id);
    // It was answered, and only not forgotten any more.
    if (kept !== undefined && kept.body !== null) return;
    try {
      const content = contentOf(job);
      const answer = await goOn(job.id, content, (admitted) => prepare(admitted, records));
      await answerKeeper.finish(answer, restorePrincipal(content.principal).key);
    } catch (error) {
      if (error instanceof AlreadyAnsweredError) return;
      if (!(error instanceof UnknownOutcomeError)) throw error;
      await giveUp(job.id, error.message);
    }
  }

  return {
    async run(admitted, perform, dismiss) {
      const { call, args } = admitted;
      const { callId } = call;
      let refused: unknown;
      let answer: Answer | undefined;
      const patience = Promise.withResolvers<never>();
      // A database that is away would be waited for without end.
      const patienceMs = Math.min(call.timeoutMs, beginWithinMs);
      const timer = setTimeout(() => {
        refused = new Error(`It could not be noted within ${patienceMs} ms`);
        patience.reject(refused);
      }, patienceMs);
      try {
        const input = seal(keyRing, writeJobContent(call, args), inputOf(callId));
        const job = durable.run({ id: callId, input }, async (records) => {
          clearTimeout(timer);
          try {
            if (refused === undefined) await prepare(admitted, records);
          } catch (error) {
            refused = error;
          }
          // Nothing was done: the job is over, and nobody must come back to it.
          if (refused !== undefined) return;
          answer = await perform();
          await answerKeeper.finish(answer, call.principal.key, { freesKey: maySendAgain(call, answer) });
        });
        await Promise.race([job, patience.promise]);
      } catch (error) {
        if (error instanceof JobLeftError) return leftAnswer(call);
        // It is done; its job is left to a later start, which will find its answer there.
        if (answer !== undefined) await answerKeeper.keep(answer, call.principal.key, { freesKey: maySendAgain(call, answer) });
        else refused ??= error;
      } finally {
        clearTimeout(timer);
      }
      if (answer !== undefined) return answer;
      dismiss();
      warn(`The call ${callId} could not be noted, and was not begun: ${String(refused)}`);
      const refusal = new CribError('SERVICE_UNAVAILABLE', 'The call could not be noted, and was not begun: try again', { cause: refused });
      await answerKeeper.withdraw(call, args, refusal);
      throw refusal;
    },

    recover: (goOn, giveUp) =>
      durable.recover((job, records) =>
        resume(job, records, goOn, giveUp).catch((error: unknown) => {
          if (!(error instanceof JobLeftError)) warn(`The call ${job.id} could not be resumed: ${String(error)}`);
          throw error;
        }),
      ),

    leave: () => leaving.abort(),
    leaving: leaving.signal,
    unfinished: () => durable.unfinished(),
  };
}

/** It was cancelled, or given up, before it could be begun. */
class AlreadyAnsweredError extends Error {
  override name = 'AlreadyAnsweredError';
}

function inputOf(id: string): { id: string; field: string } {
  return { id, field: 'job' };
}
