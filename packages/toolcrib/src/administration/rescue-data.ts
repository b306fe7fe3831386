import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { Database } from '../store/database.ts';

interface RescueInput {
  database: Database;
  dataDir: string;
  /** The keys, if they were in the data folder; undefined if they are kept elsewhere. */
  keyRing: KeyRing | undefined;
}

/**
 * Writes the open database to a new data folder beside the deleted one, and resolves with its path. A deleted file exists for as long as a
 * process has it open, and only this process does.
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
