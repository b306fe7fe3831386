import { UsageError } from '../../../model/usage-error.ts';
import type { GivenOptions } from '../command-line.ts';

/** The pairs of a repeatable option, by name; undefined if the option was not given. */
export function givenPairs<Option extends string>(given: GivenOptions<Option>, option: Option): Record<string, string> | undefined {
  const written = given.list(option).map((pair): [string, string] => {
    const equals = pair.indexOf('=');
    // The message does not repeat the pair: its value may be a secret.
    if (equals < 1) throw new UsageError(`--${option} must be NAME=VALUE`, { field: option });
    return [pair.slice(0, equals), pair.slice(equals + 1)];
  });
  return written.length === 0 ? undefined : Object.fromEntries(written);
}
