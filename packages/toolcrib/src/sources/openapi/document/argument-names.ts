import type { HttpParameter } from '../../../model/http-operation.ts';
import { shortHash } from '../../documents/short-hash.ts';

const longest = 64;

type Named = Pick<HttpParameter, 'name' | 'in'>;

/**
 * [OAS-2] The argument name of each parameter, in order. Parameters that would share a name with each other or with the body all get their
 * place as a suffix, so that callers can tell them apart.
 */
export function argumentNames(parameters: readonly Named[], taken: readonly string[]): string[] {
  const plain = parameters.map(({ name }) => legalArgument(name));
  const placed = plain.map((name, index) => (isShared(name, plain, taken) ? suffixed(name, parameters[index]?.in ?? '') : name));
  return placed.map((name, index) => (isShared(name, placed, taken) ? suffixed(name, shortHash(parameters[index]?.name ?? '')) : name));
}

function isShared(name: string, names: readonly string[], taken: readonly string[]): boolean {
  return taken.includes(name) || names.indexOf(name) !== names.lastIndexOf(name);
}

/** Letters, digits, `_`, `.` and `-`, which every model accepts: `filter[status]` is `filter_status`, `$top` is `top`. */
function legalArgument(name: string): string {
  if (/^[A-Za-z0-9_.-]{1,64}$/.test(name) && name !== '__proto__') return name;
  const legal = name.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').replaceAll(/^_+|_+$/g, '') || 'argument';
  return legal.length <= longest ? legal : suffixed(legal, shortHash(name));
}

function suffixed(name: string, suffix: string): string {
  return `${name.slice(0, longest - suffix.length - 1)}_${suffix}`;
}
