import { chmodSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';

/** What others may do, in the bits of a mode. */
const others = 0o077;
const sticky = 0o1000;
/** What is ours in it, whatever else somebody keeps there. */
const ourFiles = /^(toolcrib\.db|keys\.json|dev-issuer\.json|dev-secret|container-owner)/;

/** [SEC-3] Keeps other users of this machine out of the data folder: what an earlier version, a copy or a umask has left open is shut. */
export function shutDataFolder(folder: string, warn: (message: string) => void): void {
  // Windows has no such bits.
  if (process.platform === 'win32') return;
  const { mode } = statSync(folder);
  if ((mode & others) !== 0) {
    if (isShared(folder, mode)) warn(`Other users of this machine can look into ${folder}. Give --data a folder of its own`);
    else shut(folder, 0o700, warn);
  }
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = join(folder, entry.name);
    if (entry.isFile() && ourFiles.test(entry.name) && (statSync(file).mode & others) !== 0) shut(file, 0o600, warn);
  }
}

/** Whether somebody would be locked out of more than our data: a folder like /tmp, or one that is worked or lived in. */
function isShared(folder: string, mode: number): boolean {
  return (mode & sticky) !== 0 || [process.cwd(), homedir()].some((place) => !relative(folder, place).startsWith('..'));
}

function shut(path: string, mode: number, warn: (message: string) => void): void {
  try {
    chmodSync(path, mode);
    warn(`Other users of this machine could read ${path}: it is now for this account only`);
  } catch (error) {
    warn(`Other users of this machine can read ${path}, and that cannot be changed: ${(error as Error).message}`);
  }
}
