import { mkdtemp, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { checkPages } from '../store/check-pages.ts';
import { type Check, reasonOf } from './check.ts';

const neededMajor = 24;

export function checkNode(): Check {
  const check = { name: 'node', required: true };
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= neededMajor) return { ...check, state: 'ok', detail: `${node}, ${process.execPath}` };
  return { ...check, state: 'broken', detail: `${node}, and ${neededMajor} or newer is needed`, cure: `nvm install ${neededMajor}` };
}

/** Writes into the folder, because permissions alone say little. A missing folder must be creatable. */
export async function checkDataFolder(folder: string): Promise<Check> {
  const check = { name: 'data folder', required: true };
  const cure = 'choose another folder with --data, or make this one writable for this account';
  try {
    const existing = await nearestExisting(folder);
    if (!(await stat(existing)).isDirectory()) return { ...check, state: 'broken', detail: `${existing} is a file`, cure };
    if (existing !== folder) {
      await rmdir(await mkdtemp(join(existing, 'doctor-')));
      return { ...check, state: 'ok', detail: `${folder} will be created when the server starts` };
    }
    await rmdir(await mkdtemp(join(folder, 'doctor-')));
    return { ...check, state: 'ok', detail: `${folder} is writable` };
  } catch (error) {
    return { ...check, state: 'broken', detail: `${folder} cannot be used: ${reasonOf(error)}`, cure };
  }
}

/** Reads every page, which the server does at its start only if that is quick. A server may be running on it. */
export async function checkDatabaseFile(folder: string): Promise<Check> {
  const check = { name: 'database', required: true };
  const file = join(folder, 'toolcrib.db');
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return { ...check, state: 'ok', detail: 'embedded, in the data folder' };
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    checkPages(connection, file, { thoroughly: true });
    return { ...check, state: 'ok', detail: `embedded, ${file}: all pages are intact` };
  } catch (error) {
    return { ...check, state: 'broken', detail: reasonOf(error), cure: 'toolcrib restore <backup> --force' };
  } finally {
    connection?.close();
  }
}

async function nearestExisting(path: string): Promise<string> {
  try {
    await stat(path);
    return path;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    return nearestExisting(dirname(path));
  }
}
