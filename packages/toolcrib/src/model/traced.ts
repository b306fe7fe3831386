import { CribError } from './crib-error.ts';
import type { Span } from './tracing.ts';

/** Ends the span with the work, whichever way that ends. A result may be a failure too: `judge` has a word for it then. */
export async function traced<Result>(
  span: Span | undefined,
  work: Promise<Result>,
  judge?: (result: Result) => string | undefined,
): Promise<Result> {
  if (span === undefined) return work;
  try {
    const result = await work;
    span.end(judge?.(result));
    return result;
  } catch (error) {
    span.end(failureOf(error));
    throw error;
  }
}

/** A code and never a message, in which a server may have written anything. */
export function failureOf(error: unknown): string {
  return error instanceof CribError ? error.code : 'INTERNAL';
}
