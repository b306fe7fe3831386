import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { Database } from '../store/database.ts';

interface RescueInput {
  database: Database;
  dataDir: string;
  /** Where they were in the data folder too; undefined where they are kept elsewhere. */
  keyRing: KeyRing | undefined;
}

/**
 * Writes what is still open to a data folder of its own beside the one that is gone, and resolves with where that is. A file without a name is
 * there as long as somebody has it open, and nobody but this process does.
 */
export async function rescueData({ database, dataDir, keyRing }: RescueInput): Promise<string> {
  const folder = `${dataDir}-rescued-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  mkdirSync(folder, { mode: 0o700 });
  const file = join(folder, 'toolcrib.db');
  await sql`vacuum into ${file}`.execute(database.kysely);
  chmodSync(file, 0o600);
  const keys = keyRing?.kids.map((kid) => ({ kid, key: keyRing.find(kid)?.key.export().toString('base64') }));
  if (keys !== undefined) writeFileSync(join(folder, 'keys.json'), `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
  return folder;
}
