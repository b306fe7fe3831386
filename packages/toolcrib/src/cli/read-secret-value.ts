import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { ReadStream } from 'node:tty';
import { remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

/** Typed at a terminal without being shown, otherwise read to the end. The line break at the end of a file is not part of the value. */
export async function readSecretValue(input: ReadStream): Promise<string> {
  const value = input.isTTY ? await readHidden(input) : (await readText(input)).replace(/\r?\n$/, '');
  if (value === '') throw new UsageError('There is no value: pass it on standard input', { field: 'value' });
  return value;
}

async function readHidden(input: ReadStream): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true });
  // Not before: from here on the terminal does not show what is typed.
  remark('Type or paste the value, which is not shown, and press Enter:');
  // Ctrl-C and Ctrl-D mean that there is no value.
  const closed = once(lines, 'close').then(() => '');
  const answered = lines.question('').catch(() => '');
  const value = await Promise.race([answered, closed]);
  lines.close();
  return value;
}
