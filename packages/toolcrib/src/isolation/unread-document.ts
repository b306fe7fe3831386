import { CribError } from '../model/crib-error.ts';
import type { IsolatedOutcome, IsolatedWork } from './isolation.ts';

/** Explains why a document was not read completely. */
export function unreadDocument(
  outcome: Exclude<IsolatedOutcome, { how: 'finished' }>,
  { timeLimitMs, memoryLimitMb }: Pick<IsolatedWork, 'timeLimitMs' | 'memoryLimitMb'>,
): CribError {
  switch (outcome.how) {
    case 'time':
      return tooMuch(`longer than ${timeLimitMs / 1000} seconds`);
    case 'memory':
      return tooMuch(`more than ${memoryLimitMb} MB of memory`);
    case 'output':
      return new CribError('VALIDATION_ERROR', 'The document grows too large when it is read; give a smaller one');
    case 'crash':
      return new CribError('INTERNAL', `The process that reads the document crashed: ${faultIn(outcome.words)}`);
  }
}

/** The line that names the error, or else the first. */
function faultIn(words: string): string {
  const lines = words.split('\n').filter((line) => line.trim() !== '');
  return (lines.find((line) => /^\w*Error\b/.test(line)) ?? lines[0] ?? '').slice(0, 300);
}

function tooMuch(what: string): CribError {
  return new CribError('VALIDATION_ERROR', `The document takes ${what} to read; give a smaller one`);
}
