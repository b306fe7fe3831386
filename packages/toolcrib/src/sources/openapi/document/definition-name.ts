import { shortHash } from './short-hash.ts';

/** A name among `$defs`: the last part of the reference, told apart from others of the same name unless it is where schemas are kept. */
export function definitionName(reference: string): string {
  const last = reference.slice(reference.lastIndexOf('/') + 1);
  const legal = last.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 100);
  const isUsual = /^#\/(components\/schemas|definitions)\/[A-Za-z0-9_.-]{1,100}$/.test(reference) && legal !== '__proto__';
  return isUsual ? legal : `${legal}_${shortHash(reference)}`;
}
