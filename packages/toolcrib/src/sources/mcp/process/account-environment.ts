import type { Environment } from '../../upstream/environment.ts';
import type { RunAccount } from './run-account.ts';

/** Where programs keep their files; another user could not write to ours. */
const places = new Set(['HOME', 'TMPDIR', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME']);

/** The environment of a server that runs as another user: that user's home, with temporary files in it, unless the source says otherwise. */
export function accountEnvironment({ base, given }: Environment, { name, home }: RunAccount): Record<string, string> {
  const kept = Object.entries(base).filter(([variable]) => !places.has(variable));
  return { HOME: home, TMPDIR: home, ...(/^\d/.test(name) ? {} : { USER: name }), ...Object.fromEntries(kept), ...given };
}
