import type { RootField } from './compile-field.ts';
import { shortHash } from '../../documents/short-hash.ts';

const longest = 128;

/**
 * The tool name of each field, in the same order: the field's own name. If several names are the same apart from case, all of them get the
 * suffix `_query` or `_mutation`, so that the order of the schema does not matter.
 */
export function toolNames(fields: readonly RootField[]): string[] {
  const shared = sharedIn(fields.map(({ field }) => field.name));
  const candidates = fields.map(({ operation, field: { name } }) => (shared.has(name.toLowerCase()) ? `${name}_${operation}` : name));
  const stillShared = sharedIn(candidates);
  return candidates.map((name, index) => {
    if (name.length <= longest && !stillShared.has(name.toLowerCase())) return name;
    const { operation, field } = fields[index] as RootField;
    const suffix = shortHash(`${operation} ${field.name}`);
    return `${name.slice(0, longest - suffix.length - 1)}_${suffix}`;
  });
}

/** Names that occur more than once apart from case, in lower case. */
function sharedIn(names: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const name of names) {
    const small = name.toLowerCase();
    if (seen.has(small)) shared.add(small);
    seen.add(small);
  }
  return shared;
}
