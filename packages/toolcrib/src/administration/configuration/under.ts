import { CribError } from '../../model/crib-error.ts';

/** Leads the field of a refusal with where in the file it is, and says so in the message. */
export async function under<Result>(place: string, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CribError) || error.code === 'INTERNAL') throw error;
    const field = error.field === undefined ? place : `${place}.${error.field}`;
    throw new CribError(error.code, `${place}: ${error.message}`, { field, cause: error });
  }
}
