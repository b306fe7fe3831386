import { rescueData } from './administration/rescue-data.ts';
import type { CribConfig } from './crib-config.ts';
import type { Acceptance } from './execution/acceptance.ts';
import type { ChangeTopic } from './model/event.ts';
import { createAuditKeys } from './secrets/audit-keys.ts';
import { openKeyRing } from './secrets/open-key-ring.ts';
import { createSecretStore } from './secrets/secret-store.ts';
import { sourceTypeOf } from './sources/registry.ts';
import type { ChainKeys } from './store/audit/mac.ts';
import type { Database } from './store/database.ts';
import { databaseFileOf, journalFolder } from './store/data-files.ts';
import { openJournal, type Journal } from './store/journal/journal.ts';
import { replayJournal } from './store/journal/replay.ts';
import { lockDataDirectory } from './store/lock-data-directory.ts';
import { createMail, mailSignal } from './store/mail.ts';
import { needsKeys } from './store/needs-keys.ts';
import { openDatabase } from './store/open-database.ts';
import { serverId } from './store/server-id.ts';
import { shutDataFolder } from './store/shut-data-folder.ts';
import { createStore } from './store/store.ts';
import { watchChanges } from './store/watch-changes.ts';
import { watchDataFolder } from './store/watch-data-folder.ts';

/** Signals from other servers, received through the database. */
export interface StorageSignals {
  /** Rejects if the change could not be read; it is then reported again, so that no server keeps applying outdated rules. */
  changed(topics: ReadonlySet<ChangeTopic>): Promise<void>;
  cancelCall(callId: string): void;
}

const definitionOf = (sourceType: string) => sourceTypeOf(sourceType).definition;

/** Opens the data folder, the database and the keys: everything that a crib stores. `opened` closes them. */
export async function openStorage(config: CribConfig, acceptance: Acceptance, opened: AsyncDisposableStack) {
  const { dataDir, databaseUrl, warn } = config;
  opened.use(lockDataDirectory(dataDir));
  shutDataFolder(dataDir, warn);
  const database = opened.use(await openDatabase(databaseUrl === undefined ? { file: databaseFileOf(dataDir) } : { url: databaseUrl }));
  // With SQLite there is only this server.
  const server = database.dialect === 'sqlite' ? 'here' : serverId(dataDir);
  const keyRing = openKeyRing({ keys: config.keys, dataDir, create: !(await needsKeys(database)) });
  // With PostgreSQL the folder holds no records.
  const dataFolder =
    database.dialect === 'postgres'
      ? undefined
      : opened.use(
          watchDataFolder({
            dataDir,
            onGone(reason) {
              acceptance.suspend('data-folder', reason);
              warn(`Put ${dataDir} back as it was, or stop this server: it then writes the data to a new folder beside it`);
            },
            onBack: () => acceptance.resume('data-folder'),
          }),
        );
  const auditKeys = createAuditKeys(keyRing);
  // Before the journal is opened, which writes with them.
  await createSecretStore({ store: createStore(database), keyRing }).verify({ warn });
  const journal = await openCallJournal(config, { database, keys: auditKeys, server, acceptance }, opened);
  const store = createStore(database, { keys: auditKeys, check: dataFolder?.check, definitionOf, ...(journal && { journal }) });
  const secrets = createSecretStore({ store, keyRing });
  const mail = createMail({ store, server, isAlone: database.dialect === 'sqlite' });
  // Starts listening before anything is read, so that no change is missed.
  let listener: StorageSignals | undefined;
  opened.use(
    await watchChanges({
      database,
      async onChange(topics) {
        if (topics.has('secret') || topics.has('source')) secrets.forget();
        await listener?.changed(topics);
      },
      onSeen: acceptance.changesSeen,
      onSignal(name, payload) {
        if (name === mailSignal) mail.receive(payload);
        if (name === 'cancel-call' && typeof payload === 'string') listener?.cancelCall(payload);
      },
      warn,
    }),
  );

  /** Data in deleted files is lost when this process ends, unless it is written elsewhere. */
  async function rescue(): Promise<void> {
    if (dataFolder?.isGone !== true) return;
    try {
      // What cannot be brought into the database any more is copied as it is.
      await journal?.caughtUp().catch(() => undefined);
      const folder = await rescueData({ database, dataDir, keyRing: config.keys === undefined ? keyRing : undefined });
      journal?.copyTo(journalFolder(folder));
      warn(`The data folder ${dataDir} is gone. Its data was written to ${folder}: start the server with --data ${folder}`);
    } catch (error) {
      warn(`The data folder ${dataDir} is gone and its data is lost: it could not be written elsewhere (${String(error)})`);
    }
  }
  return {
    database,
    server,
    keyRing,
    store,
    journal,
    secrets,
    mail,
    rescue,
    onSignals: (signals: StorageSignals) => void (listener = signals),
  };
}

interface CallJournalInput {
  database: Database;
  keys: ChainKeys;
  server: string;
  acceptance: Acceptance;
}

/**
 * [SEC-4] The journal, and everything that an earlier server has left in it. With PostgreSQL there is one only if it is asked for: it makes
 * calls quicker, and their record part of this machine until it is in the database.
 */
async function openCallJournal(
  config: CribConfig,
  { database, keys, server, acceptance }: CallJournalInput,
  opened: AsyncDisposableStack,
): Promise<Journal | undefined> {
  const { dataDir, warn, fsync = false, journal = database.dialect === 'sqlite' } = config;
  const databaseFile = database.dialect === 'sqlite' ? databaseFileOf(dataDir) : undefined;
  const place = { database, databaseFile, keys, server, folder: journalFolder(dataDir), warn };
  if (!journal) {
    await replayJournal(place);
    return undefined;
  }
  const onTrouble = (reason: string) => acceptance.suspend('journal', reason);
  return opened.adopt(await openJournal({ ...place, synced: fsync, onTrouble, onWorking: () => acceptance.resume('journal') }), (opening) =>
    opening.close(),
  );
}
