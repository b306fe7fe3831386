import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseHead, type AuditVerdict } from '../../model/audit.ts';
import { CribError } from '../../model/crib-error.ts';
import { parseKeyRing, type KeyRing } from '../../secrets/key-ring.ts';
import { openKeyRing } from '../../secrets/open-key-ring.ts';
import { lockDataDirectory } from '../../store/lock-data-directory.ts';
import { openSqlite } from '../../store/open-sqlite.ts';
import { checkKeys } from './check-keys.ts';
import { damaged, mostHeaderBytes, parseHeader, type Manifest } from './manifest.ts';

interface RestoreInput {
  file: string;
  dataDir: string;
  /** The value of TOOLCRIB_KEYS. */
  keys: string | undefined;
  /** Whether an existing database may be moved aside. */
  force: boolean;
  warn(message: string): void;
}

export interface Restored {
  manifest: Manifest;
  /** The folder that the old database was moved to; null if there was none. */
  movedTo: string | null;
  verdict: AuditVerdict;
}

/** The files that a backup replaces. Other files in the folder belong to the machine, such as the list of leftover processes. */
const databaseFiles = /^(toolcrib\.db(-wal|-shm|-journal)?|journal)$/;

/**
 * Replaces the database of a data folder with a backup. Everything is checked on a copy before anything is moved: the folder is either
 * unchanged or restored. The old database is kept with its write-ahead log and its journal, which would else be replayed over the restored
 * database.
 */
export async function restoreBackup({ file, dataDir, keys, force, warn }: RestoreInput): Promise<Restored> {
  const { manifest, offset } = await readManifest(file);
  using _lock = lockDataDirectory(dataDir);
  const found = (await readdir(dataDir)).filter((name) => databaseFiles.test(name));
  if (found.length > 0 && !force)
    throw new CribError(
      'CONFLICT',
      `There is already a database in ${dataDir}. With --force it is moved into a subfolder and the backup restored; nothing is deleted`,
    );
  const ring = ringOf({ keys, manifest, dataDir });
  const copy = join(dataDir, `restoring-${process.pid}.db`);
  try {
    await extract({ file, offset, manifest, copy });
    const verdict = await check(copy, ring, manifest, warn);
    const replacesKeys = keys === undefined && manifest.keys !== null;
    const old = replacesKeys ? [...found, ...(await readdir(dataDir)).filter((name) => name === 'keys.json')] : found;
    const movedTo = await moveAside(dataDir, old);
    if (replacesKeys) await writeFile(join(dataDir, 'keys.json'), manifest.keys ?? '', { mode: 0o600, flush: true });
    await rename(copy, join(dataDir, 'toolcrib.db'));
    await flush(dataDir);
    return { manifest, movedTo, verdict };
  } finally {
    for (const left of ['', '-wal', '-shm']) await rm(`${copy}${left}`, { force: true });
  }
}

async function readManifest(file: string) {
  const handle = await open(file, 'r').catch((cause: unknown) => {
    throw new CribError('NOT_FOUND', `The backup ${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
  });
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(mostHeaderBytes), 0, mostHeaderBytes, 0);
    return parseHeader(buffer.subarray(0, bytesRead), file);
  } finally {
    await handle.close();
  }
}

/** Given keys come first, then the keys in the backup, then the keys in the folder. */
function ringOf({ keys, manifest, dataDir }: Pick<RestoreInput, 'keys' | 'dataDir'> & { manifest: Manifest }): KeyRing {
  if (keys === undefined && manifest.keys !== null) return parseKeyRing(manifest.keys, 'the backup');
  try {
    return openKeyRing({ ...(keys !== undefined && { keys }), dataDir, create: false });
  } catch (error) {
    if (!(error instanceof CribError && error.code === 'NOT_FOUND')) throw error;
    const message = `The keys are not in this backup. Put the keys.json that belongs to it into ${dataDir}, or set TOOLCRIB_KEYS, and restore again`;
    throw new CribError('NOT_FOUND', message);
  }
}

async function extract({ file, offset, manifest, copy }: { file: string; offset: number; manifest: Manifest; copy: string }) {
  const sum = createHash('sha256');
  let bytes = 0;
  await pipeline(
    createReadStream(file, { start: offset }),
    async function* counted(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        sum.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(copy, { mode: 0o600, flush: true }),
  );
  if (bytes !== manifest.database.bytes) throw damaged(file, `it has ${bytes} bytes of ${manifest.database.bytes}`);
  if (sum.digest('hex') !== manifest.database.sha256) throw damaged(file, 'its checksum does not match');
}

/** Opens the copy as a server would, which also migrates an older schema, and closes it, so that all data is in one file. */
async function check(copy: string, ring: KeyRing, { heads }: Manifest, warn: RestoreInput['warn']): Promise<AuditVerdict> {
  await using database = await openSqlite(copy, { thoroughly: true });
  return await checkKeys(database, ring, { expected: heads.map(parseHead), warn });
}

async function moveAside(dataDir: string, names: readonly string[]): Promise<string | null> {
  if (names.length === 0) return null;
  const aside = join(dataDir, `before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`);
  await mkdir(aside, { mode: 0o700 });
  for (const name of names) await rename(join(dataDir, name), join(aside, name));
  return aside;
}

async function flush(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync();
  await handle.close();
}
