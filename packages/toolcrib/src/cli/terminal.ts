import { styleText } from 'node:util';
import { printable } from '../text/printable.ts';

type Format = Parameters<typeof styleText>[0];

/** Colours for standard output: only if it is a terminal and NO_COLOR is not set. */
export function paint(format: Format, text: string): string {
  return styleText(format, text, { stream: process.stdout });
}

/** To standard output: the result. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** To standard error: remarks about it. */
export function remark(text: string): void {
  process.stderr.write(`${styleText('dim', printable(text), { stream: process.stderr })}\n`);
}

export function complain(text: string): void {
  process.stderr.write(`${styleText('red', 'toolcrib:', { stream: process.stderr })} ${printable(text)}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** How many columns a line may have; without a terminal there is no such limit. */
export function lineWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns : Infinity;
}
