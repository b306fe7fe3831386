import { CribError } from '../../../model/crib-error.ts';
import type { Json } from '../../../model/json.ts';

/** How a process ended: with a code, or by a signal. */
export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Where more than the code is known, or the code is not: `was ended, because …`. */
  reason?: string;
}

/** How many of its last lines go into an error; the log has more. */
export const wordsInErrors = 20;
const charactersInErrors = 4000;

/** `ended with code 1`. */
export function describeExit({ code, signal, reason }: ProcessExit): string {
  if (reason !== undefined) return reason;
  return signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
}

/** The exit code of `docker run` when the program in the container was killed. */
const killedInside = 137;

/** Adds the likely reason where the kernel killed the program in a container. */
export function containedExit(exit: ProcessExit): ProcessExit {
  if (exit.code !== killedInside) return exit;
  return { ...exit, reason: 'was killed in its container (code 137), as happens when it needs more memory than its limit allows,' };
}

/** Whether it was killed, by us or by somebody else, before it could end by itself. */
export function isKilled({ code, signal }: ProcessExit): boolean {
  return signal !== null || code === 130 || code === killedInside || code === 143;
}

/** [ERR-5] For calls that were under way when the process died. */
export function crashError(exit: ProcessExit, lastWords: readonly string[]): CribError {
  const words = boundWords(lastWords);
  const { message, ...quoted } = quoting(`The server's process ${describeExit(exit)}.`, words);
  return new CribError('SERVICE_UNAVAILABLE', message, { ...quoted, details: exitDetails(exit, words) });
}

/** A message that ends with the last lines of a process, and its parts for readers who have those lines already. */
export function quoting(summary: string, words: readonly string[]): { message: string; summary: string; lastWords: readonly string[] } {
  return { message: `${summary} ${quoteWords(words)}`, summary, lastWords: words };
}

function quoteWords(words: readonly string[]): string {
  return words.length === 0 ? 'It wrote nothing to standard error.' : `The last it wrote to standard error:\n${words.join('\n')}`;
}

export function exitDetails({ code, signal }: ProcessExit, words: string[]): Json {
  return { exit_code: code, signal, stderr: words };
}

/** As many of the last lines as fit; of a very long last line, its beginning. */
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
