import { createInterface } from 'node:readline/promises';
import { UsageError } from '../model/usage-error.ts';

/** Whether there is somebody to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Refuses where nobody can be asked: a script without --yes must not delete anything. */
export function refuseUnasked(what: string): void {
  if (!canAsk())
    throw new UsageError(`This is not a terminal, so nobody can confirm: pass --yes to ${what} without asking`, { field: 'yes' });
}

/** Asks the person at the terminal. */
export async function agreed(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Neither Ctrl-C nor the end of the input is a yes.
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<string>();
  lines.once('close', () => onClosed('\n'));
  try {
    const answer = await Promise.race([lines.question(question), closed]);
    // Without an Enter the question's line is still open.
    if (answer === '\n') process.stderr.write(answer);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
