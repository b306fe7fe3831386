import type { AddOption } from './add-options.ts';
import type { Given } from './given.ts';
import { UsageError } from './usage-error.ts';

/** The headers of `--header 'Name: value'`. */
export function givenHeaders(given: Given<AddOption>): Record<string, string> {
  const headers = given.list('header').map((written): [string, string] => {
    const [, name, value] = /^([^\s:]+):\s*(.*?)\s*$/s.exec(written) ?? [];
    // Not repeated: there may be a token in it.
    if (name === undefined || value === undefined) throw new UsageError("--header must be like 'X-Team: blue'", { field: 'header' });
    return [name, value];
  });
  return Object.fromEntries(headers);
}
