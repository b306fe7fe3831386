import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../model/json.ts';
import type { StepRecords } from './durable.ts';
import { JobLeftError } from './job-left-error.ts';
import { readOutcome, writeFailure, writeResult, writeUnknown } from './step-outcome.ts';
import type { Steps } from './steps.ts';
import { UnknownOutcomeError } from './unknown-outcome-error.ts';

interface StepsInput {
  records: StepRecords;
  /** What is remembered is sealed, bound to its job and its step. */
  seal(text: string, step: string): string;
  open(sealed: string, step: string): string;
  /** Aborts when this server stops: from then on no step is begun, and no pause is waited for. */
  leaving: AbortSignal;
  /** Told when the job is left, whatever the work makes of the error. */
  onLeft(): void;
  /** Whether it was left in the middle of a step: what that step fails with then is our doing. */
  isLeft(): boolean;
  now?: () => number;
}

/** Longer pauses are made of several: a timer cannot hold them. */
const longestPauseMs = 2 ** 31 - 1;

/** The steps of one run of a job. A number before each name tells steps of the same name apart. */
export function createSteps({ records, seal, open, leaving, onLeft, isLeft, now = Date.now }: StepsInput): Steps {
  /** Names this run: who begins something is remembered by it. */
  const run = randomUUID();
  let count = 0;

  function leave(): never {
    onLeft();
    throw new JobLeftError();
  }

  async function remember(name: string, work: () => Promise<string>): Promise<string> {
    if (leaving.aborted) leave();
    try {
      return open(await records.once(name, async () => seal(await work(), name)), name);
    } catch (error) {
      if (error instanceof JobLeftError) leave();
      throw error;
    }
  }

  async function outcomeOf(work: () => Promise<Json>): Promise<string> {
    try {
      return writeResult(await work());
    } catch (error) {
      const failure = writeFailure(error);
      if (isLeft()) throw new JobLeftError();
      if (failure === undefined) throw error;
      return failure;
    }
  }

  return {
    async run<Result extends Json>(given: string, { repeatable }: { repeatable: boolean }, work: () => Promise<Result>) {
      const name = `${++count} ${given}`;
      // Noted before anything is done: where the note is another run's and there is no result, that run did not live to write it.
      const begunBy = repeatable ? run : await remember(`${name} begun`, async () => run);
      let outcome: string | undefined;
      try {
        outcome = await remember(name, async () => {
          // Written down like any other: a run that was taken over finds out that way that the other one is still at it.
          if (begunBy !== run) return writeUnknown(mayHaveHappened(given));
          outcome = await outcomeOf(work);
          return outcome;
        });
      } catch (cause) {
        // It was done, and could not be written down.
        const isLost = outcome !== undefined && !repeatable && !(cause instanceof JobLeftError);
        throw isLost ? new UnknownOutcomeError(mayHaveHappened(given), { cause }) : cause;
      }
      return readOutcome(outcome) as Result;
    },

    async sleep(given, ms, signal) {
      const endsAt = Number(await remember(`${++count} ${given}`, async () => String(now() + ms)));
      const woken = AbortSignal.any([signal, leaving]);
      for (let leftMs = endsAt - now(); leftMs > 0 && !woken.aborted; leftMs = endsAt - now()) {
        await pause(Math.min(leftMs, longestPauseMs), undefined, { signal: woken }).catch(() => undefined);
      }
      signal.throwIfAborted();
      if (leaving.aborted) leave();
    },
  };
}

function mayHaveHappened(step: string): string {
  return `The step "${step}" may have taken effect: the server stopped between sending it and noting what became of it. Look there before trying again.`;
}
