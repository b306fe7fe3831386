import type { AuditHead } from '../../model/audit.ts';
import { createImporter, type Imported, type Importer } from './importer.ts';
import { createImportThread, type ImportRunner } from './import-thread.ts';
import { knownPosition, type Place } from './position.ts';
import type { ReplayInput } from './replay.ts';

interface SqliteImportInput extends ReplayInput {
  databaseFile: string;
  /** How many bytes are brought in at once without a thread. */
  littleBytes?: number | undefined;
  /** After how long without work a thread ends. */
  restMs?: number | undefined;
}

/** About twenty calls: less than a millisecond. */
const usualLittleBytes = 8192;
const usualRestMs = 60_000;

/**
 * SQLite writes synchronously, so a busy server has a thread for it. A thread takes memory, and time to start: where little is to be done,
 * this one does it.
 */
export function createSqliteImport(input: SqliteImportInput): ImportRunner {
  const { databaseFile, keys, folder, server, warn, littleBytes = usualLittleBytes, restMs = usualRestMs } = input;
  let importer: Importer | undefined;
  let head: AuditHead | undefined;
  let resting: NodeJS.Timeout | undefined;
  const thread = createImportThread(() => ({ databaseFile, newest: keys.newest, folder, server, head }), warn);

  function letGo(): void {
    importer?.[Symbol.dispose]();
    importer = undefined;
  }

  async function importHere(place: Place): Promise<Imported> {
    importer ??= createImporter({ ...input, from: await knownPosition(input), head });
    return importer.importUpTo(place);
  }

  function importThere(place: Place): Promise<Imported> {
    letGo();
    clearTimeout(resting);
    resting = setTimeout(() => void thread.close(), restMs).unref();
    return thread.importUpTo(place);
  }

  return {
    async importUpTo(place, bytes) {
      try {
        const imported = await (bytes <= littleBytes && !thread.isRunning ? importHere(place) : importThere(place));
        head = imported.head ?? head;
        return imported;
      } catch (error) {
        // Nobody knows how far the chain has come.
        head = undefined;
        throw error;
      }
    },
    async close() {
      clearTimeout(resting);
      letGo();
      await thread.close();
    },
  };
}
