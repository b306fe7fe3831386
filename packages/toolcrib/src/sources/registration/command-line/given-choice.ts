import { UsageError } from '../../../model/usage-error.ts';
import { orList } from '../../../text/lists.ts';
import type { GivenOptions } from '../command-line.ts';

/** The value of an option with a fixed set of values; undefined if the option was not given. */
export function givenChoice<Option extends string, const Value extends string>(
  given: GivenOptions<Option>,
  option: Option,
  values: readonly Value[],
): Value | undefined {
  const written = given.text(option);
  const value = values.find((known) => known === written);
  if (written !== undefined && value === undefined)
    throw new UsageError(`--${option} must be ${orList(values)}, not ${JSON.stringify(written)}`, { field: option });
  return value;
}
