import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folders that a program of ours reads to start: our own code and the packages, wherever npm has put them. */
export function codeFolders(): string[] {
  // `src` in a clone, `dist` in a package.
  const own = dirname(dirname(fileURLToPath(import.meta.url)));
  const folders = [own, join(dirname(own), 'package.json')];
  for (let folder = own; dirname(folder) !== folder; folder = dirname(folder)) folders.push(join(dirname(folder), 'node_modules'));
  return folders;
}
