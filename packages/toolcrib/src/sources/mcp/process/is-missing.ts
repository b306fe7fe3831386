import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Whether there is certainly no such program. Looking is a hundred times cheaper than starting a process that finds out. */
export function isMissing(program: string, path: string | undefined): boolean {
  // Windows adds file extensions, and a relative path depends on the server's working directory.
  if (process.platform === 'win32' || program === '') return false;
  if (isAbsolute(program)) return !existsSync(program);
  if (program.includes('/') || !path) return false;
  return path.split(delimiter).every((folder) => isAbsolute(folder) && !existsSync(join(folder, program)));
}
