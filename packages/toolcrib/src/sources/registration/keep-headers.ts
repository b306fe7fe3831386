import { checkHeaderName, checkHeaderValue } from '../upstream/header-rules.ts';
import type { Draft } from './draft.ts';
import { invalid } from './invalid.ts';
import { textOf, type ValueInput } from './value-input.ts';

interface GivenHeader {
  name: string;
  input: ValueInput;
  /** Whether the header is declared to be a secret, whatever it looks like. */
  secret: boolean;
}

/** Headers by lower-case name: header names are case-insensitive. */
export function givenHeaders(headers: Readonly<Record<string, ValueInput>>): Map<string, GivenHeader> {
  const given = new Map(Object.entries(headers).map(([name, input]) => [name.toLowerCase(), { name, input, secret: false }]));
  if (given.size < Object.keys(headers).length) throw invalid('headers', 'A header is given twice, in upper and lower case: remove one');
  return given;
}

/** Adds the headers to the draft, with their secrets stored separately. */
export function keepHeaders(draft: Draft, headers: Iterable<GivenHeader>): void {
  for (const { name, input, secret } of headers) {
    const field = `headers.${name}`;
    checkHeaderName(name, field);
    checkHeaderValue(textOf(input), field);
    // Only characters that a secret's name may have. The dot keeps it apart from the names of variables.
    draft.headers.set(name, draft.keep(`header.${name.replaceAll(/[^\w-]/g, '_')}`, input, { field, secret }));
  }
}
