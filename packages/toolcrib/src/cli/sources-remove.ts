import { createInterface } from 'node:readline/promises';
import { CribError } from '../model/crib-error.ts';
import { countTools } from './describe-source.ts';
import type { ShownSource, SourceClient } from './source-client.ts';
import { print, printable, printJson, remark } from './terminal.ts';

/** Removes a source; a person at a terminal is asked before. */
export async function removeSource(
  client: SourceClient,
  { id, name, namespace, status, definition }: ShownSource,
  { json, ask }: { json: boolean; ask: boolean },
): Promise<number> {
  if (definition === null) throw new CribError('CONFLICT', `${namespace} comes with Toolcrib and is always there: it cannot be removed`);
  const tools = status.tools === undefined ? 'its tools' : `its ${countTools(status.tools).replace(/^no tools$/, 'tools')}`;
  if (
    ask &&
    process.stdin.isTTY &&
    process.stderr.isTTY &&
    !(await agreed(`Remove ${namespace} (${printable(name)}), ${tools} and its secrets? [y/N] `))
  ) {
    remark('Nothing was removed.');
    return 1;
  }
  await client.remove(id);
  if (json) printJson({ removed: namespace });
  else print(`${namespace} is removed.`);
  return 0;
}

async function agreed(question: string): Promise<boolean> {
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
