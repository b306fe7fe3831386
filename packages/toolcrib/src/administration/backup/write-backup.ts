import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CribError } from '../../model/crib-error.ts';
import { copySqlite } from '../../store/copy-sqlite.ts';
import { databaseFileOf } from '../../store/data-files.ts';
import { formatHeader, type Manifest } from './manifest.ts';
import { settleJournal } from './settle-journal.ts';

interface BackupInput {
  dataDir: string;
  /** The path of the backup; must not exist. */
  file: string;
  withKeys: boolean;
  version: string;
  /** The value of TOOLCRIB_KEYS: needed for what a server that was killed has left in its journal. */
  keys: string | undefined;
  warn(message: string): void;
}

/** Writes everything to one file, whether a server runs or not. The file appears only once it is complete and checked. */
export async function writeBackup({ dataDir, file, withKeys, version, keys: given, warn }: BackupInput): Promise<Manifest> {
  await refuseExisting(file);
  await requireFolder(dirname(file));
  const keys = withKeys ? await readKeys(join(dataDir, 'keys.json')) : null;
  const [copy, draft] = [`${file}.${process.pid}.copy`, `${file}.${process.pid}.draft`];
  try {
    // Created with our file mode first, so that nobody else can read the copy.
    await (await open(copy, 'wx', 0o600)).close();
    await settleJournal({ dataDir, keys: given, warn });
    const { migration, heads } = await copySqlite(databaseFileOf(dataDir), copy);
    const database = { bytes: (await stat(copy)).size, sha256: await sha256Of(copy) };
    const manifest: Manifest = { made_at: Date.now(), toolcrib: version, migration, database, heads, keys };
    const written = await open(draft, 'wx', 0o600);
    await written.writeFile(formatHeader(manifest));
    await written.close();
    await pipeline(createReadStream(copy), createWriteStream(draft, { flags: 'a' }));
    await flush(draft);
    await rename(draft, file);
    await flush(dirname(file));
    return manifest;
  } finally {
    for (const left of [copy, `${copy}-journal`, draft]) await rm(left, { force: true });
  }
}

async function refuseExisting(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined) throw new CribError('CONFLICT', `${file} already exists: name another file`);
}

async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) throw new CribError('NOT_FOUND', `There is no folder ${folder}: create it first`);
}

async function readKeys(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CribError('NOT_FOUND', `There are no keys in ${file} to include. Leave out --with-keys, and back up TOOLCRIB_KEYS yourself`, {
      cause,
    });
  }
}

async function sha256Of(file: string): Promise<string> {
  const sum = createHash('sha256');
  await pipeline(createReadStream(file), sum);
  return sum.digest('hex');
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync();
  await handle.close();
}
