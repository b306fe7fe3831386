import { resolve } from 'node:path';
import { checkKeys } from '../administration/backup/check-keys.ts';
import { restoreBackup } from '../administration/backup/restore-backup.ts';
import { openKeyRing } from '../secrets/open-key-ring.ts';
import { openDatabase } from '../store/open-database.ts';
import { jsonOption } from './client-options.ts';
import { defineCommand } from './command.ts';
import { sayRecord } from './say-record.ts';
import { databaseFrom, keysFrom } from './serve-config.ts';
import { keysOption, placeOptions } from './serve-options.ts';
import { complain, print, printJson, remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

export const restore = defineCommand({
  operands: '[file]',
  operandCount: [0, 1],
  options: {
    data: placeOptions.data,
    database: placeOptions.database,
    ...keysOption,
    force: { help: 'Restores over an existing database. The old one is moved into a folder next to it; nothing is deleted' },
    ...jsonOption,
  },
  notes: [
    'Stop the server first. Refuses a file that is damaged or from a newer version, and keys that do not fit; then nothing is changed.',
    'The keys come from the backup, from TOOLCRIB_KEYS, or from a keys.json that you have put into the data folder.',
    'With --database and no file: checks that the keys and the record fit the database that `pg_restore` restored. Exits with 1 if the record was changed.',
  ],
  examples: [
    'toolcrib restore /backups/toolcrib-monday',
    'toolcrib restore --force --data /var/lib/toolcrib /safe/toolcrib',
    'TOOLCRIB_KEYS=/etc/toolcrib/keys toolcrib restore --database postgres://crib@db/crib',
  ],
  async run(given) {
    const dataDir = resolve(given.required('data'));
    const url = databaseFrom(given);
    const keys = keysFrom(given);
    const [file] = given.operands;
    const warn = complain;
    if (url !== undefined) {
      if (file !== undefined)
        throw new UsageError('Restore PostgreSQL with `pg_restore`. This command then checks the result, without a file', {
          field: 'database',
        });
      await using database = await openDatabase({ url });
      const verdict = await checkKeys(database, openKeyRing({ ...(keys !== undefined && { keys }), dataDir, create: false }), { warn });
      if (given.on('json')) printJson({ restored: false, record: verdict });
      else print('The keys fit the database.');
      return sayRecord(verdict);
    }
    if (file === undefined) throw new UsageError('Name the backup to restore', { field: 'file' });
    const { manifest, movedTo, verdict } = await restoreBackup({ file: resolve(file), dataDir, keys, force: given.on('force'), warn });
    if (given.on('json')) printJson({ restored: true, made_at: manifest.made_at, moved_to: movedTo, record: verdict });
    else {
      print(`${dataDir} is as it was on ${new Date(manifest.made_at).toISOString()}. Start the server with \`toolcrib serve\`.`);
      if (movedTo !== null) remark(`The old data folder is in ${movedTo}. Delete it when you no longer need it.`);
    }
    return sayRecord(verdict);
  },
});
