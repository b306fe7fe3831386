import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { invalid } from '../../registration/invalid.ts';
import { shorten } from './package-spec.ts';

/** Whether a path lies in a directory; both must be real paths. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * [SRC-7] The script or program that a plugin names, as an absolute path. A relative one belongs to the plugin directory and must not leave
 * it, not by a link either; an absolute one may be anywhere. Either must exist.
 */
export async function resolvePluginPath(directory: string, path: string, field: string): Promise<string> {
  const [root, target] = [directory, resolve(directory, path)];
  const [realRoot, realTarget] = await Promise.all([root, target].map((place) => realpath(place).catch(() => undefined)));
  if (!isAbsolute(path) && !isInside(resolve(root), target)) throw invalid(field, `${shorten(path)} leads out of the plugin directory`);
  if (realRoot === undefined || realTarget === undefined) throw invalid(field, `${shorten(path)} is not there`);
  if (!isAbsolute(path) && !isInside(realRoot, realTarget))
    throw invalid(field, `${shorten(path)} leads out of the plugin directory by a link`);
  return target;
}
