import { stripVTControlCharacters } from 'node:util';

// oxlint-disable-next-line no-control-regex -- these are the characters to take out
const unprintable = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Makes untrusted text, such as the answer of a tool, safe to print: escape sequences could rewrite the screen or control the terminal, and
 * direction marks could make a line read differently from what it says.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replaceAll('\r\n', '\n').replace(unprintable, '');
}
