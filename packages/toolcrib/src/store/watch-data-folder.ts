import { statSync } from 'node:fs';
import { join } from 'node:path';
import { CribError } from '../model/crib-error.ts';

/** Callers read it too, so it names no path. */
const reason = 'The data folder of the server was deleted, moved or replaced while it runs: new data would be lost.';

interface DataFolderWatch {
  dataDir: string;
  /** Called once when the files are no longer those that were opened. */
  onGone(reason: string): void;
  /** Called when the same files are back in their place. */
  onBack(): void;
  everyMs?: number;
}

export interface WatchedDataFolder extends Disposable {
  readonly isGone: boolean;
  /** Throws where a write would be lost now. */
  check(): void;
}

/**
 * Notices that the open database was deleted, moved or replaced. SQLite goes on with files that have no name any more, and everything written
 * to them is lost when the server stops. A file is told by its device and inode, as SQLite itself does.
 */
export function watchDataFolder({ dataDir, onGone, onBack, everyMs = 1000 }: DataFolderWatch): WatchedDataFolder {
  const files = ['toolcrib.db', 'toolcrib.db-wal'].map((name) => join(dataDir, name));
  const opened = files.map((file) => ({ file, identity: identityOf(file) })).filter(({ identity }) => identity !== undefined);
  let isGone = false;

  function look(): void {
    const was = isGone;
    isGone = opened.some(({ file, identity }) => identityOf(file) !== identity);
    if (isGone && !was) onGone(reason);
    if (!isGone && was) onBack();
  }

  const timer = setInterval(look, everyMs).unref();
  return {
    get isGone() {
      return isGone;
    },
    check() {
      look();
      if (isGone) throw new CribError('SERVICE_UNAVAILABLE', `${reason} Put it back, or restart the server.`);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function identityOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false, bigint: true });
  return found && `${found.dev}:${found.ino}`;
}
