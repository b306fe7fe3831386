import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { ReadStream } from 'node:tty';
import { remark } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** Typed at a terminal without being shown; read to its end otherwise. The line break that ends a file is no part of the value. */
export async function readSecretValue(input: ReadStream): Promise<string> {
  const value = input.isTTY ? await readHidden(input) : (await readText(input)).replace(/\r?\n$/, '');
  if (value === '') throw new UsageError('No value is given: pass it on standard input', { field: 'value' });
  return value;
}

async function readHidden(input: ReadStream): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true });
  // Only now: from here on the terminal does not show what is typed.
  remark('Type or paste the value, which is not shown, and press Enter:');
  // Ctrl-C and Ctrl-D mean that there is no value.
  const closed = once(lines, 'close').then(() => '');
  const answered = lines.question('').catch(() => '');
  const value = await Promise.race([answered, closed]);
  lines.close();
  return value;
}
