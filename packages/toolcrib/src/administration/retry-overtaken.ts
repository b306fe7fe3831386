import { CribError } from '../model/crib-error.ts';

/** Thrown within a change if the row has changed since the change was prepared. Nothing is written or recorded. */
export class Overtaken extends Error {}

const mostAttempts = 10;

/** For changes that cannot be prepared within their transaction: prepares them again if another change came in between. */
export async function retryOvertaken<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let count = 0; count < mostAttempts; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
    }
  }
  throw new CribError('CONFLICT', 'Concurrent changes got in the way every time: try again', { retryable: true });
}
