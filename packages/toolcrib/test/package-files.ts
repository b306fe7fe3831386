import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const repository = join(import.meta.dirname, '..', '..', '..');

/** The TypeScript files in these folders of every package, with their paths from the root of the repository. */
export function packageFiles(...folders: string[]): { file: string; text: string }[] {
  const packages = join(repository, 'packages');
  return readdirSync(packages)
    .flatMap((name) => folders.map((folder) => join(packages, name, folder)))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file: relative(repository, file), text: readFileSync(file, 'utf8') }));
}
