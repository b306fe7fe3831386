import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * Keeps the main thread of a process on one core. Left alone, the system sometimes puts server and load program on one core and
 * sometimes on two, which changes the latency of one connection by half. Does nothing without `taskset`, or with only one core.
 */
export function pinToCore(pid: number | undefined, core: number): boolean {
  if (pid === undefined || availableParallelism() <= core) return false;
  // Threads that were started since inherit the core of the main thread, and those that were there before do not.
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', `0-${availableParallelism() - 1}`, String(pid)]);
  return spawnSync('taskset', ['--cpu-list', '--pid', String(core), String(pid)]).status === 0;
}
