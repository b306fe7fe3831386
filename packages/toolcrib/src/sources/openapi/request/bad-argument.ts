import { CribError } from '../../../model/crib-error.ts';

/** [HTTP-1] What cannot be written as the document wants it is refused before anything leaves. */
export function badArgument(argument: string, problem: string): CribError {
  const field = `arguments.${argument}`;
  return new CribError('VALIDATION_ERROR', `${field} ${problem}`, { field });
}
