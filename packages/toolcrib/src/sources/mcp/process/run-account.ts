import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { CribError } from '../../../model/crib-error.ts';

/** [SEC-2] Another user of this machine, under whose account servers run. */
export interface RunAccount {
  name: string;
  uid: number;
  gid: number;
  /** Its home, with its temporary files and none of ours. */
  home: string;
}

/**
 * Prepares to run servers as this user, a name or `uid:gid`. The user's home is beside the data folder and not in it, so that the data folder
 * can be closed to that user whatever the permissions of the files in it.
 */
export function openRunAccount(user: string, dataDir: string): RunAccount {
  const account = { name: user, ...findUser(user), home: `${dataDir}-home` };
  if (account.uid === 0 || account.gid === 0) throw refused(user, 'it is root, or in its group, and may do everything. Name another');
  try {
    chmodSync(dataDir, 0o700);
    mkdirSync(account.home, { recursive: true, mode: 0o700 });
    const found = lstatSync(account.home);
    if (!found.isDirectory()) throw new Error(`${account.home} is not a directory`);
    chownSync(account.home, account.uid, account.gid);
    chmodSync(account.home, 0o700);
  } catch (error) {
    throw refused(user, `its home ${account.home} cannot be made: ${(error as Error).message}. This needs root`);
  }
  tryOut(account);
  return account;
}

function findUser(user: string): { uid: number; gid: number } {
  const [, uid, gid] = /^(\d+):(\d+)$/.exec(user) ?? [];
  if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  const line = readUsers()
    .split('\n')
    .map((entry) => entry.split(':'))
    .find(([name]) => name === user);
  if (line === undefined) throw refused(user, 'there is no such user in /etc/passwd. Add it, or write uid:gid');
  return { uid: Number(line[2]), gid: Number(line[3]) };
}

function readUsers(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}

/** Tries once to become this user, before anything depends on it. */
function tryOut({ name, uid, gid, home }: RunAccount): void {
  const { error, status } = spawnSync('test', ['-w', home], {
    uid,
    gid,
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: 'ignore',
  });
  if (error !== undefined)
    throw refused(name, `this process may not become it (${error.message}). That needs root, or CAP_SETUID, CAP_SETGID and CAP_KILL`);
  if (status !== 0)
    throw refused(name, `it cannot reach ${home}. The folders above it must be open to it (chmod o+x), or choose another with --data`);
}

function refused(user: string, why: string): CribError {
  return new CribError('VALIDATION_ERROR', `Servers cannot run as the user ${user}: ${why}`);
}
