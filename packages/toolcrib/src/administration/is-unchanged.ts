import { canonicalJson } from '../model/canonical-json.ts';
import type { DefinedSource } from '../model/source.ts';
import { registrationOf } from '../sources/source-registrations.ts';

/**
 * [SRC-2] Whether a replacement equals the stored source, so that nothing is written, recorded or restarted. The definitions are compared
 * too: a manifest that the registration names may have changed.
 */
export function isUnchanged(known: DefinedSource, made: DefinedSource): boolean {
  const named = ({ name, namespace, enabled, managed_by }: DefinedSource) => [name, namespace, enabled, managed_by];
  const isSame = (before: unknown, after: unknown) => canonicalJson(before) === canonicalJson(after);
  if (!isSame([named(known), registrationOf(known)], [named(made), registrationOf(made)])) return false;
  // Older sources have no stored registration; the one derived for them may not produce exactly their definition.
  return known.registration === undefined || isSame(known.definition, made.definition);
}
