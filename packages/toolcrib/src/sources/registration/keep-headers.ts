import { checkHeaderName, checkHeaderValue } from '../upstream/header-rules.ts';
import type { Draft } from './draft.ts';
import { invalid } from './invalid.ts';
import { textOf, type ValueInput } from './value-input.ts';

interface GivenHeader {
  name: string;
  input: ValueInput;
  /** Declared to be one, whatever it looks like. */
  secret: boolean;
}

/** Headers by their names in small letters, which are the same in capitals. */
export function givenHeaders(headers: Readonly<Record<string, ValueInput>>): Map<string, GivenHeader> {
  const given = new Map(Object.entries(headers).map(([name, input]) => [name.toLowerCase(), { name, input, secret: false }]));
  if (given.size < Object.keys(headers).length) throw invalid('headers', 'A header is there twice, in capital and small letters');
  return given;
}

/** Puts them into the draft, with their secrets put aside. */
export function keepHeaders(draft: Draft, headers: Iterable<GivenHeader>): void {
  for (const { name, input, secret } of headers) {
    const field = `headers.${name}`;
    checkHeaderName(name, field);
    checkHeaderValue(textOf(input), field);
    // Only what the name of a secret may have, and no variable's name has a dot.
    draft.headers.set(name, draft.keep(`header.${name.replaceAll(/[^\w-]/g, '_')}`, input, { field, secret }));
  }
}
