import { stripVTControlCharacters, styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** Colours for standard output: only where it is a terminal and NO_COLOR is not set. */
export function paint(format: Format, text: string): string {
  return styleText(format, text, { stream: process.stdout });
}

/** For standard output: what was asked for. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** For standard error: what is said beside it. */
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

// oxlint-disable-next-line no-control-regex -- these are the characters to take out
const unprintable = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text that came from elsewhere, such as a tool's answer, made safe to show: escape sequences could rewrite what stands on the screen or
 * speak to the terminal, and direction marks could make a line read differently from what it says.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replaceAll('\r\n', '\n').replace(unprintable, '');
}
