import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Which server this is, among those that share a database: the same after a restart, because its data folder is. */
export function serverId(dataDir: string): string {
  const file = join(dataDir, 'server-id');
  try {
    const known = readFileSync(file, 'utf8').trim();
    if (known !== '') return known;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const made = randomUUID();
  writeFileSync(file, `${made}\n`, { mode: 0o600 });
  return made;
}
