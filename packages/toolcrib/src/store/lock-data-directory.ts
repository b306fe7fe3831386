import { closeSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CribError } from '../model/crib-error.ts';
import { makeFolder } from './make-folder.ts';
import { sqliteErrorCode, sqliteResultCodes } from './sqlite-error-code.ts';

/**
 * Makes this process the only server of a data directory until it lets go. SQLite's own file lock does it: the operating system takes it
 * back whatever way the process ends, and no stale file can keep the next server out. Nothing else in the process may open the lock
 * file, because closing any handle of it would drop the lock.
 */
export function lockDataDirectory(directory: string): Disposable {
  let lock: DatabaseSync | undefined;
  try {
    makeFolder(directory);
    const file = join(directory, 'server.lock');
    makeForUs(file);
    lock = new DatabaseSync(file, { timeout: 0 });
    lock.exec('begin exclusive');
  } catch (cause) {
    lock?.close();
    if (sqliteErrorCode(cause) === sqliteResultCodes.busy) {
      throw new CribError(
        'CONFLICT',
        `Another Toolcrib server is using the data directory ${directory}. Stop it first, or give this server a directory of its own.`,
      );
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    const advice = 'Check that the path is right and that this account may write there.';
    throw new CribError('VALIDATION_ERROR', `The data directory ${directory} cannot be used: ${reason}. ${advice}`, { cause });
  }
  const held = lock;
  return {
    [Symbol.dispose]() {
      if (held.isOpen) held.close();
    },
  };
}

/** Only where it is new: then nobody in this process has it open, and closing it drops no lock. */
function makeForUs(file: string): void {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) closeSync(openSync(file, 'a', 0o600));
}
