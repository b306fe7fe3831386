import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Whether there is surely no such program. To look is a hundred times cheaper than to start a process that then finds out. */
export function isMissing(program: string, path: string | undefined): boolean {
  // Windows adds endings of its own, and what is relative depends on where the server is started.
  if (process.platform === 'win32' || program === '') return false;
  if (isAbsolute(program)) return !existsSync(program);
  if (program.includes('/') || !path) return false;
  return path.split(delimiter).every((folder) => isAbsolute(folder) && !existsSync(join(folder, program)));
}
