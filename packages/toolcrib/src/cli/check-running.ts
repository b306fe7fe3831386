import { existsSync } from 'node:fs';
import { limitNames } from '../model/process-limits.ts';
import type { RunRules } from '../model/run-rules.ts';
import { findProgram } from '../sources/mcp/run/find-program.ts';
import type { Check } from './check.ts';

/** [SEC-2] What may be started here, and whether the configured limits can be set. */
export async function checkRunning(rules: RunRules | undefined, { production }: { production: boolean }): Promise<Check[]> {
  const check = { name: 'run rules', required: false };
  if (rules === undefined) {
    if (!production) return [{ ...check, state: 'ok', detail: 'none: in development every administrator may start any program' }];
    const detail = 'none: sources that start a program or a container here are refused';
    return [{ ...check, state: 'missing', detail, cure: 'list the programs that may run with --run-rules, if there are any' }];
  }
  const limited = limitNames.filter((name) => rules.limits[name] !== undefined);
  return [
    { ...check, state: 'ok', detail: describe(rules) },
    ...(limited.length > 0 || rules.user !== undefined ? [checkLimits(limited)] : []),
    ...(rules.user === undefined ? (production ? [checkSameUser(rules)] : []) : [checkUser(rules.user)]),
  ];
}

function describe({ runtimes, packages, images, containers, programs }: RunRules): string {
  const counted = Object.entries({ packages, images, containers, programs }).filter(([, list]) => list.length > 0);
  const lists = counted.map(([name, list]) => `${list.length} ${list.length === 1 ? name.slice(0, -1) : name}`);
  return `${runtimes.length === 0 ? 'nothing' : runtimes.join(', ')} may run${lists.length === 0 ? '' : `: ${lists.join(', ')}`}`;
}

function checkLimits(limited: readonly string[]): Check {
  const check = { name: 'limits', required: limited.length > 0 };
  const prlimit = findProgram('prlimit', { path: process.env['PATH'], cwd: null });
  if (prlimit !== undefined && existsSync('/proc/self/stat'))
    return { ...check, state: 'ok', detail: `${limited.join(', ') || 'none'}, with ${prlimit}` };
  const detail = 'prlimit or /proc is missing, so sources with limits are not started';
  return { ...check, state: 'broken', detail, cure: 'sudo apt-get install util-linux' };
}

/** [SEC-2] Without a user of their own, local servers are refused, or can read the gateway's files. */
function checkSameUser({ same_user: sameUser }: RunRules): Check {
  const detail = sameUser
    ? "same_user: local servers run as the gateway's own user, and can read its keys, its database and its environment"
    : "none: local servers outside of containers are refused, because they would run as the gateway's own user";
  const cure = `name another \`user\` in the run rules, or run servers in containers${sameUser ? '' : ', or accept it with `same_user: true`'}`;
  return { name: 'user of servers', required: false, state: 'missing', detail, cure };
}

function checkUser(user: string): Check {
  const check = { name: 'user of servers', required: true };
  if (process.getuid?.() === 0) return { ...check, state: 'ok', detail: user };
  const detail = `this account probably cannot switch to ${user}`;
  return { ...check, state: 'broken', detail, cure: 'run the server as root, or with CAP_SETUID, CAP_SETGID and CAP_KILL' };
}
