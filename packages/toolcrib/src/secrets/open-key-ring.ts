import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CribError } from '../model/crib-error.ts';
import { makeFolder } from '../store/make-folder.ts';
import { isWrittenKeys, parseKeyRing, type KeyRing, type WrittenKey, writtenKeySchema } from './key-ring.ts';

export interface KeyRingPlace {
  /** What TOOLCRIB_KEYS says: keys, or the path of a file with keys. Without it, `keys.json` in the data directory. */
  keys?: string;
  dataDir: string;
  /** Whether a `keys.json` that is missing is made: only where nothing needs the one that was there. */
  create: boolean;
}

/** [SEC-3] The ring this server seals with. The data directory must be locked, so that two starts cannot make two keys. */
export function openKeyRing({ keys, dataDir, create }: KeyRingPlace): KeyRing {
  if (keys === undefined) return openKeyFile(join(dataDir, 'keys.json'), create);
  const origin = 'TOOLCRIB_KEYS';
  if (isWrittenKeys(keys)) return parseKeyRing(keys, origin);
  let text: string;
  try {
    text = readFileSync(keys, 'utf8');
  } catch (error) {
    // Neither the path nor the error, which repeats it: it may be keys that were written wrongly.
    const { code } = error as NodeJS.ErrnoException;
    throw new CribError(
      'VALIDATION_ERROR',
      `TOOLCRIB_KEYS cannot be used: it is neither keys written kid:base64 nor a file that can be read (${code}).`,
    );
  }
  return parseKeyRing(text, `the file ${keys} that TOOLCRIB_KEYS names`);
}

/**
 * Puts a new key in front of those in `keys.json`. The older ones stay: until `rekey` is through, and for backups, they are needed. `anew` begins
 * a file where there is none, which gives up what was sealed with the one that is lost.
 */
export function addKey(dataDir: string, { anew }: { anew: boolean }): KeyRing {
  const file = join(dataDir, 'keys.json');
  const origin = `the file ${file}`;
  const text = readKeyFile(file);
  if (text === undefined && anew) return parseKeyRing(writeKeyFile(file, [newKey()]), origin);
  if (text === undefined) throw missing(file);
  parseKeyRing(text, origin);
  const older = writtenKeySchema.array().parse(JSON.parse(text));
  return parseKeyRing(writeKeyFile(file, [newKey(), ...older]), origin);
}

function openKeyFile(file: string, create: boolean): KeyRing {
  let text = readKeyFile(file);
  if (text === undefined && !create) throw missing(file);
  text ??= writeKeyFile(file, [newKey()]);
  return parseKeyRing(text, `the file ${file}`);
}

function readKeyFile(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8');
    // A copy or a restored backup may have come with wider permissions.
    chmodSync(file, 0o600);
    return text;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new CribError('VALIDATION_ERROR', `The keys in ${file} cannot be read: ${message}. Check whose file it is.`, { cause: error });
  }
}

function newKey(): WrittenKey {
  return { kid: `k${randomBytes(4).toString('hex')}`, key: randomBytes(32).toString('base64') };
}

/** Whole and on the disk before anything is sealed with it: secrets without their key are lost. */
function writeKeyFile(file: string, keys: WrittenKey[]): string {
  const text = `${JSON.stringify(keys, null, 2)}\n`;
  makeFolder(dirname(file));
  const draft = `${file}.${process.pid}.tmp`;
  withFile(draft, 'w', (handle) => writeSync(handle, text));
  renameSync(draft, file);
  // The new name is in the directory, which Windows cannot be asked to write down.
  if (process.platform !== 'win32') withFile(dirname(file), 'r', () => undefined);
  return text;
}

function withFile(path: string, flags: string, use: (handle: number) => unknown): void {
  const handle = openSync(path, flags, 0o600);
  try {
    use(handle);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function missing(file: string): CribError {
  return new CribError(
    'NOT_FOUND',
    `There are no keys in ${file}, and the stored secrets need the keys that sealed them. Nothing was changed. Put that file back, or give TOOLCRIB_KEYS. If the keys are lost, \`toolcrib secrets rekey --new-key --delete-unreadable\` makes new ones and deletes the secrets.`,
  );
}
