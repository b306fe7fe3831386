import { join } from 'node:path';
import { rescueData } from './administration/rescue-data.ts';
import type { CribConfig } from './crib-config.ts';
import type { Acceptance } from './execution/acceptance.ts';
import { createAuditKeys } from './secrets/audit-keys.ts';
import { openKeyRing } from './secrets/open-key-ring.ts';
import { createSecretStore } from './secrets/secret-store.ts';
import { lockDataDirectory } from './store/lock-data-directory.ts';
import { needsKeys } from './store/needs-keys.ts';
import { openDatabase } from './store/open-database.ts';
import { serverId } from './store/server-id.ts';
import { shutDataFolder } from './store/shut-data-folder.ts';
import { createStore } from './store/store.ts';
import { watchDataFolder } from './store/watch-data-folder.ts';

/** The data folder, the database and the keys: all that a crib keeps. What is opened is closed with `opened`. */
export async function openStorage(config: CribConfig, acceptance: Acceptance, opened: AsyncDisposableStack) {
  const { dataDir, databaseUrl, warn } = config;
  opened.use(lockDataDirectory(dataDir));
  shutDataFolder(dataDir, warn);
  const database = opened.use(
    await openDatabase(databaseUrl === undefined ? { file: join(dataDir, 'toolcrib.db') } : { url: databaseUrl }),
  );
  // Alone with its data, whatever is noted there is its own.
  const server = database.dialect === 'sqlite' ? 'here' : serverId(dataDir);
  const keyRing = openKeyRing({ keys: config.keys, dataDir, create: !(await needsKeys(database)) });
  // On PostgreSQL nothing is lost with the folder.
  const dataFolder =
    database.dialect === 'postgres'
      ? undefined
      : opened.use(
          watchDataFolder({
            dataDir,
            onGone(reason) {
              acceptance.suspend('data-folder', reason);
              warn(`Put ${dataDir} back as it was, or stop this server: it then writes what it has to a folder beside it`);
            },
            onBack: () => acceptance.resume('data-folder'),
          }),
        );
  const store = createStore(database, { keys: createAuditKeys(keyRing), check: dataFolder?.check });
  const secrets = createSecretStore({ store, keyRing });
  await secrets.verify({ warn });

  /** What was recorded in files that are gone is lost with this process, unless it is written elsewhere. */
  async function rescue(): Promise<void> {
    if (dataFolder?.isGone !== true) return;
    try {
      const folder = await rescueData({ database, dataDir, keyRing: config.keys === undefined ? keyRing : undefined });
      warn(`The data folder ${dataDir} is gone. What was in it was written to ${folder}: start the server with --data ${folder}`);
    } catch (error) {
      warn(`The data folder ${dataDir} is gone, and what was in it is lost: it could not be written elsewhere (${String(error)})`);
    }
  }
  return { database, server, keyRing, store, secrets, rescue };
}
