import { CribError } from '../../../model/crib-error.ts';
import type { Json } from '../../../model/json.ts';

/** How a process ended: with a code, or by a signal. */
export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** How many of its last lines go into an error; the log has more. */
export const wordsInErrors = 20;
const charactersInErrors = 4000;

/** `ended with code 1`. */
export function describeExit({ code, signal }: ProcessExit): string {
  return signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
}

/** [ERR-5] For calls that were under way when the process died. */
export function crashError(exit: ProcessExit, lastWords: readonly string[]): CribError {
  const words = boundWords(lastWords);
  return new CribError('SERVICE_UNAVAILABLE', `The server's process ${describeExit(exit)}. ${quoteWords(words)}`, {
    details: exitDetails(exit, words),
  });
}

export function quoteWords(words: readonly string[]): string {
  return words.length === 0 ? 'It wrote nothing to standard error.' : `The last it wrote to standard error:\n${words.join('\n')}`;
}

/** A message without the words quoted in it, for the log, which has them already. */
export function withoutWords(message: string): string {
  return message.replace(/ (?:The last it wrote to standard error:\n[^]*|It wrote nothing to standard error\.)$/, '');
}

export function exitDetails({ code, signal }: ProcessExit, words: string[]): Json {
  return { exit_code: code, signal, stderr: words };
}

/** The last lines that fit; of a very long last line, its beginning. */
export function boundWords(lastWords: readonly string[]): string[] {
  const kept: string[] = [];
  let room = charactersInErrors;
  for (const line of lastWords.slice(-wordsInErrors).reverse()) {
    if (kept.length > 0 && line.length > room) break;
    kept.unshift(line.slice(0, charactersInErrors));
    room -= line.length;
  }
  return kept;
}
