import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The path with its links resolved, as far as it exists. */
export function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPlace(parent), basename(path));
  }
}
