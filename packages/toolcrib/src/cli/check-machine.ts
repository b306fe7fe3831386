import { constants } from 'node:fs';
import { access, mkdtemp, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Check, reasonOf } from './check.ts';

const neededMajor = 24;

export function checkNode(): Check {
  const check = { name: 'node', required: true };
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= neededMajor) return { ...check, state: 'ok', detail: `${node}, ${process.execPath}` };
  return { ...check, state: 'broken', detail: `${node}, and ${neededMajor} or newer is needed`, cure: `nvm install ${neededMajor}` };
}

/** Writes into the folder, as permissions alone say little; one that is not there yet must be possible to make. */
export async function checkDataFolder(folder: string): Promise<Check> {
  const check = { name: 'data folder', required: true };
  const cure = 'choose another with --data, or give this account the right to write there';
  try {
    const existing = await nearestExisting(folder);
    if (!(await stat(existing)).isDirectory()) return { ...check, state: 'broken', detail: `${existing} is a file`, cure };
    if (existing !== folder) {
      await access(existing, constants.W_OK | constants.X_OK);
      return { ...check, state: 'ok', detail: `${folder} will be made when the server starts` };
    }
    await rmdir(await mkdtemp(join(folder, 'doctor-')));
    return { ...check, state: 'ok', detail: `${folder} can be written to` };
  } catch (error) {
    return { ...check, state: 'broken', detail: `${folder} cannot be used: ${reasonOf(error)}`, cure };
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
