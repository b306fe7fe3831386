import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** The absolute path of a program, found as the system would find it; undefined where there is none. */
export function findProgram(program: string, { path = '', cwd }: { path?: string | undefined; cwd: string | null }): string | undefined {
  if (isAbsolute(program)) return program;
  if (/[\\/]/.test(program)) return resolve(cwd ?? '.', program);
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, program))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
