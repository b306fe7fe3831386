import { CribError } from './crib-error.ts';

/** The command line itself is wrong: nothing was tried. Ends the program with 2, where a failure ends it with 1. */
export class UsageError extends CribError {
  override name = 'UsageError';

  constructor(message: string, options: { field?: string; cause?: unknown } = {}) {
    super('VALIDATION_ERROR', message, options);
  }
}
