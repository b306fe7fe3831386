import { CribError } from '../model/crib-error.ts';
import { isLostConnection } from './lost-connection.ts';
import { sqliteErrorCode } from './sqlite-error-code.ts';

/** https://sqlite.org/rescode.html, primary codes. */
const sqlite = { readOnly: 8, ioError: 10, full: 13, cannotOpen: 14, tooBig: 18, constraint: 19, mismatch: 20 };

const diskFull = 'The disk is full: make room where the database is.';
const cannotWrite = 'The disk of the database cannot be written to.';

/** Why nothing can be stored at the moment, as a sentence for callers; undefined where the error says nothing of the kind. */
export function storageTrouble(error: unknown): string | undefined {
  if (error instanceof CribError) return storageTrouble(error.cause);
  if (isLostConnection(error)) return 'The database does not answer.';
  const ofFile = fileTrouble(error);
  if (ofFile !== undefined) return ofFile;
  const primary = primaryCode(error);
  const state = sqlState(error);
  if (primary === sqlite.full || state === '53100') return diskFull;
  if (primary === sqlite.readOnly || state === '25006') return 'The database is read-only.';
  if (primary === sqlite.ioError || primary === sqlite.cannotOpen || state.startsWith('58')) return cannotWrite;
  if (state.startsWith('53')) return 'The database has no room for more at the moment.';
  // Statements that were given up: by PostgreSQL, and by us when it was silent.
  if (state === '57014' || (error instanceof Error && error.message === 'Query read timeout'))
    return 'The database does not answer in time.';
  return undefined;
}

/** Of the journal, which is a file. */
function fileTrouble(error: unknown): string | undefined {
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull;
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
    case 'EIO':
    case 'ENOENT':
    case 'EMFILE':
    case 'ENFILE':
      return cannotWrite;
    case undefined:
    default:
      return undefined;
  }
}

/** Whether the database would take anything but this: sending it again is of no use. */
export function isRejectedValue(error: unknown): boolean {
  const primary = primaryCode(error);
  return primary === sqlite.tooBig || primary === sqlite.constraint || primary === sqlite.mismatch || /^(22|23|54)/.test(sqlState(error));
}

function primaryCode(error: unknown): number | undefined {
  const code = sqliteErrorCode(error);
  return code === undefined ? undefined : code & 0xff;
}

function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.length === 5 ? error.code : '';
}
