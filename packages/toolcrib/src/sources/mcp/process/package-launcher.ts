import { programName } from '../registration/program-name.ts';
import { childrenOf } from './linux-process.ts';

const launchers = new Set(['npx', 'bunx', 'uvx', 'uv']);

/** The program that fetches a package before it starts it, such as `npx`; undefined where the command starts the server itself. */
export function packageLauncher([program = '']: readonly string[]): string | undefined {
  const name = programName(program);
  return launchers.has(name) ? name : undefined;
}

/** Whether a launcher on this machine has not started anything yet. Without Linux we cannot see that, and assume so. */
export function isStillFetching(pid: number): boolean {
  return childrenOf(pid).length === 0;
}
