import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { invalid } from '../../registration/invalid.ts';
import { shorten } from './package-spec.ts';

/** Whether a path lies inside a directory. Links are not resolved here. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * [SRC-7] The absolute path of a script or program that a plugin names. A relative path must stay inside the plugin directory, also after
 * links are resolved; an absolute path may lead anywhere. The file must exist.
 */
export async function resolvePluginPath(directory: string, path: string, field: string): Promise<string> {
  const [root, target] = [directory, resolve(directory, path)];
  const [realRoot, realTarget] = await Promise.all([root, target].map((place) => realpath(place).catch(() => undefined)));
  if (!isAbsolute(path) && !isInside(resolve(root), target)) throw invalid(field, `${shorten(path)} is outside the plugin directory`);
  if (realRoot === undefined || realTarget === undefined) throw invalid(field, `${shorten(path)} does not exist`);
  if (!isAbsolute(path) && !isInside(realRoot, realTarget))
    throw invalid(field, `${shorten(path)} is a link to a file outside the plugin directory`);
  return target;
}
