import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CribError } from '../model/crib-error.ts';
import { createAuditKeys } from '../secrets/audit-keys.ts';
import { addKey, openKeyRing } from '../secrets/open-key-ring.ts';
import { createSecretStore } from '../secrets/secret-store.ts';
import { lockDataDirectory } from '../store/lock-data-directory.ts';
import { openDatabase } from '../store/open-database.ts';
import { createStore } from '../store/store.ts';
import { jsonOption } from './client-options.ts';
import { defineCommand } from './command.ts';
import { databaseFrom, keysFrom } from './serve-config.ts';
import { keysOption, placeOptions } from './serve-options.ts';
import { print, printJson, remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

export const secretsRekey = defineCommand({
  operands: '',
  operandCount: [0, 0],
  options: {
    data: placeOptions.data,
    database: placeOptions.database,
    ...keysOption,
    'new-key': { help: 'Creates a new key first and puts it in front of those in keys.json of the data folder' },
    'delete-unreadable': {
      help: 'Deletes secrets that no key decrypts. Without it, such a secret stops the command before anything is changed',
    },
    ...jsonOption,
  },
  notes: [
    'Encrypts every secret with the newest key, which is the first one. All or nothing: you can interrupt and repeat it.',
    'With the embedded database, stop the server first. On PostgreSQL, give every server the new key first.',
    'Keep the older keys as long as backups, or records of calls and changes, need them: `toolcrib audit verify` tells you.',
  ],
  examples: [
    'toolcrib secrets rekey --new-key',
    'TOOLCRIB_KEYS=/etc/toolcrib/keys toolcrib secrets rekey --database postgres://crib@db/crib',
  ],
  async run(given) {
    const dataDir = resolve(given.required('data'));
    const url = databaseFrom(given);
    const keys = keysFrom(given);
    if (keys !== undefined && given.on('new-key'))
      throw new UsageError(`The keys come from ${given.origin('keys')}: put the new one in front there`, { field: 'new-key' });
    const file = join(dataDir, 'toolcrib.db');
    // Opening the database would create it, even in a folder that was named by mistake.
    if (url === undefined && !existsSync(file))
      throw new CribError('NOT_FOUND', `There is no database ${file}: name its folder with --data`);
    await using opened = new AsyncDisposableStack();
    if (url === undefined || given.on('new-key')) opened.use(lockDataDirectory(dataDir));
    const database = opened.use(await openDatabase(url === undefined ? { file } : { url }));
    const keyRing = given.on('new-key')
      ? addKey(dataDir, { anew: given.on('delete-unreadable') })
      : openKeyRing({ keys, dataDir, create: false });
    const store = createStore(database, { keys: createAuditKeys(keyRing) });
    const secrets = createSecretStore({ store, keyRing });
    const outcome = await secrets.rekey({ actor: 'command line', deleteUnreadable: given.on('delete-unreadable') });
    if (given.on('json')) printJson({ ...outcome, kid: keyRing.newest.kid });
    else {
      print(`${outcome.rewritten} of ${outcome.total} secrets were encrypted again, with the key ${keyRing.newest.kid}.`);
      if (outcome.deleted.length > 0) remark(`Deleted, because no key decrypts them: ${outcome.deleted.join(', ')}.`);
    }
    return 0;
  },
});
