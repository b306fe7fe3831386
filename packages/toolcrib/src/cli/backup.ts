import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeBackup } from '../administration/backup/write-backup.ts';
import { CribError } from '../model/crib-error.ts';
import { version } from '../version.ts';
import { jsonOption } from './client-options.ts';
import { defineCommand } from './command.ts';
import { databaseFrom, keysFrom } from './serve-config.ts';
import { keysOption, placeOptions } from './serve-options.ts';
import { complain, print, printJson, remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

export const backup = defineCommand({
  operands: '<file>',
  operandCount: [1, 1],
  options: {
    data: placeOptions.data,
    database: placeOptions.database,
    ...keysOption,
    'with-keys': { help: 'Includes keys.json of the data folder. Anyone with the file can then decrypt the secrets' },
    ...jsonOption,
  },
  notes: [
    'The file is checked page by page. `toolcrib restore` puts it back.',
    'Without --with-keys, the backup has no keys for its secrets: keep keys.json, or TOOLCRIB_KEYS, in another place.',
    'A PostgreSQL database is backed up with pg_dump: docs/running.md says how.',
  ],
  examples: ['toolcrib backup /backups/toolcrib-monday', 'toolcrib backup --data /var/lib/toolcrib --with-keys /safe/toolcrib'],
  async run(given) {
    if (databaseFrom(given) !== undefined) throw usePgDump();
    const dataDir = resolve(given.required('data'));
    const file = resolve(given.operands[0] ?? '');
    const withKeys = given.on('with-keys');
    if (withKeys && given.text('keys') !== undefined)
      throw new UsageError(`The keys come from ${given.origin('keys')} and are kept there: leave out --with-keys`, { field: 'with-keys' });
    // Opening the database would create it, even in a folder that was named by mistake.
    const database = join(dataDir, 'toolcrib.db');
    if (!existsSync(database)) throw new CribError('NOT_FOUND', `There is no database ${database}: name its folder with --data`);
    const { keys, ...manifest } = await writeBackup({ dataDir, file, withKeys, version, keys: keysFrom(given), warn: complain });
    if (given.on('json')) {
      printJson({ file, with_keys: keys !== null, ...manifest });
      return 0;
    }
    print(`${file} is written and checked: ${manifest.database.bytes} bytes of database, Toolcrib ${manifest.toolcrib}.`);
    if (withKeys) remark('The keys are in it: anyone who can read the file can decrypt the secrets. Keep it where nobody else has access.');
    else {
      const where = given.text('keys') === undefined ? join(dataDir, 'keys.json') : (given.origin('keys') ?? 'TOOLCRIB_KEYS');
      remark(`The keys are NOT in it. Keep a copy of ${where} in another place: without it the secrets cannot be decrypted.`);
    }
    return 0;
  },
});

/** PostgreSQL's own tools are consistent, fast and available everywhere. */
function usePgDump(): UsageError {
  return new UsageError(
    'PostgreSQL is backed up with its own tools: `pg_dump --format=custom --file=toolcrib.dump "$TOOLCRIB_DATABASE"`. Keep TOOLCRIB_KEYS in another place. After `pg_restore`, `toolcrib restore --database …` checks that keys and record fit',
    { field: 'database' },
  );
}
