import { canonicalJson } from '../inventory/definition-hash.ts';
import type { DefinedSource } from '../model/source.ts';
import { registrationOf } from '../sources/registration/registration-of.ts';

/**
 * [SRC-2] Whether a replacement says what there is already, so that nothing is written, recorded or restarted. What it comes to counts as
 * well: the manifest that it names may say something else by now.
 */
export function isUnchanged(known: DefinedSource, made: DefinedSource): boolean {
  const named = ({ name, namespace, enabled, managed_by }: DefinedSource) => [name, namespace, enabled, managed_by];
  const isSame = (before: unknown, after: unknown) => canonicalJson(before) === canonicalJson(after);
  if (!isSame([named(known), registrationOf(known)], [named(made), registrationOf(made)])) return false;
  // One from before is described by a registration that need not come to it exactly.
  return known.registration === undefined || isSame(known.definition, made.definition);
}
