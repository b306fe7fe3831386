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
  /** Encrypts results for storage, bound to their job and step. */
  seal(text: string, step: string): string;
  open(sealed: string, step: string): string;
  /** Aborts when this server stops: from then on no step begins and no pause is waited out. */
  leaving: AbortSignal;
  /** Called when the job is left, even if the work swallows the error. */
  onLeft(): void;
  /** Whether the job was left in the middle of a step: the failure of that step is then ours. */
  isLeft(): boolean;
  now?: () => number;
}

/** The longest delay of a Node timer; longer pauses take several. */
const longestPauseMs = 2 ** 31 - 1;

/** The steps of one run of a job. A number before each name distinguishes steps with the same name. */
export function createSteps({ records, seal, open, leaving, onLeft, isLeft, now = Date.now }: StepsInput): Steps {
  /** Identifies this run, and is stored with each step that it begins. */
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
      // Stored before the work: if another run began the step and there is no result, that run ended before it could store one.
      const begunBy = repeatable ? run : await remember(`${name} begun`, async () => run);
      let outcome: string | undefined;
      try {
        outcome = await remember(name, async () => {
          // Stored like any outcome: if the run that began the step is still alive, its own attempt to store then conflicts.
          if (begunBy !== run) return writeUnknown(mayHaveHappened(given));
          outcome = await outcomeOf(work);
          return outcome;
        });
      } catch (cause) {
        // The work was done, but its outcome could not be stored.
        const isLost = outcome !== undefined && !repeatable && !(cause instanceof JobLeftError);
        throw isLost ? new UnknownOutcomeError(mayHaveHappened(given), { cause }) : cause;
      }
      return readOutcome(outcome) as Result;
    },

    async sleep(given, ms, signal) {
      const endsAt = Number(await remember(`${++count} ${given}`, async () => String(now() + ms)));
      const woken = AbortSignal.any([signal.toAbortSignal(), leaving]);
      for (let leftMs = endsAt - now(); leftMs > 0 && !woken.aborted; leftMs = endsAt - now()) {
        await pause(Math.min(leftMs, longestPauseMs), undefined, { signal: woken }).catch(() => undefined);
      }
      signal.throwIfAborted();
      if (leaving.aborted) leave();
    },
  };
}

function mayHaveHappened(step: string): string {
  return `The step "${step}" may have taken effect: the server stopped between sending it and recording the outcome. Check the service before you try again.`;
}
