import { shortHash } from '../../documents/short-hash.ts';

/** A name for `$defs`: the last part of the reference, with a hash unless the reference leads to the usual place of schemas. */
export function definitionName(reference: string): string {
  const last = reference.slice(reference.lastIndexOf('/') + 1);
  const legal = last.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 100);
  const isUsual = /^#\/(components\/schemas|definitions)\/[A-Za-z0-9_.-]{1,100}$/.test(reference) && legal !== '__proto__';
  return isUsual ? legal : `${legal}_${shortHash(reference)}`;
}
