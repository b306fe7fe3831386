import { UsageError } from '../../../model/usage-error.ts';
import type { GivenOptions } from '../command-line.ts';

/** The headers of `--header 'Name: value'`. */
export function givenHeaders(given: GivenOptions<'header'>): Record<string, string> {
  const headers = given.list('header').map((written): [string, string] => {
    const [, name, value] = /^([^\s:]+):\s*(.*?)\s*$/s.exec(written) ?? [];
    // The message does not repeat the header, which may contain a token.
    if (name === undefined || value === undefined) throw new UsageError("--header must be like 'X-Team: blue'", { field: 'header' });
    return [name, value];
  });
  return Object.fromEntries(headers);
}
