import { CribError } from '../model/crib-error.ts';

/** Thrown within a change where what it was prepared for is there no longer. Nothing is written and nothing recorded. */
export class Overtaken extends Error {}

const mostAttempts = 10;

/** For changes that cannot be prepared in their transaction: prepares them anew where somebody else's change came in between. */
export async function retryOvertaken<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let count = 0; count < mostAttempts; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
    }
  }
  throw new CribError('CONFLICT', 'Others keep changing this at the same time: try again', { retryable: true });
}
