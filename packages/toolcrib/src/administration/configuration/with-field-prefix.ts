import { CribError } from '../../model/crib-error.ts';

/** Prefixes the field and the message of an error with the path in the file. */
export async function withFieldPrefix<Result>(place: string, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CribError) || error.code === 'INTERNAL') throw error;
    const field = error.field === undefined ? place : `${place}.${error.field}`;
    throw new CribError(error.code, `${place}: ${error.message}`, { field, cause: error });
  }
}
