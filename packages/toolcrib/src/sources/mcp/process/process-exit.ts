import { CribError } from '../../../model/crib-error.ts';
import type { Json } from '../../../model/json.ts';

/** How a process ended: with a code, or by a signal. */
export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Where more is known than the code says, or the code is not known: `was ended, because …`. */
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

/** How `docker run` says that what was in the container has been killed. */
const killedInside = 137;

/** The same, with what it means of a container that nobody but the kernel has ended. */
export function containedExit(exit: ProcessExit): ProcessExit {
  if (exit.code !== killedInside) return exit;
  return { ...exit, reason: 'was killed in its container (code 137), as happens when it needs more memory than its limit allows,' };
}

/** Whether it was ended before it could leave by itself, by us or by somebody else. */
export function isKilled({ code, signal }: ProcessExit): boolean {
  return signal !== null || code === 130 || code === killedInside || code === 143;
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
