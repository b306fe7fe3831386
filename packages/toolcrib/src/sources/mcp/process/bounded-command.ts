import type { ProcessLimits } from '../../../model/process-limits.ts';

const mebibyte = 1_048_576;

/**
 * How much more address space than memory a process may reserve before the kernel refuses: Node.js reserves half a gigabyte that it never
 * uses. The memory in use is watched; this limit stops only a process that grows faster than we look.
 */
const reserveMb = 1024;
/** For a process that ignores the signal that its processor time is used up. */
const graceSeconds = 5;
/** For all processes and threads of a user that runs only servers: a fork bomb gets no further before we see it. */
const mostTasksOfUser = 4096;

/** The command as an argument of `prlimit`, which sets limits in the kernel and then becomes the program. */
export function boundedCommand(command: readonly string[], prlimit: string, limits: ProcessLimits, ownUser: boolean): string[] {
  const { memory_mb: memory, cpu_seconds: cpu, open_files: files } = limits;
  const options = [
    // No core dumps: the memory of a server may hold secrets.
    '--core=0',
    ...(memory === undefined ? [] : [`--data=${(memory + reserveMb) * mebibyte}`]),
    ...(cpu === undefined ? [] : [`--cpu=${cpu}:${cpu + graceSeconds}`]),
    ...(files === undefined ? [] : [`--nofile=${files}`]),
    ...(ownUser ? [`--nproc=${mostTasksOfUser}`] : []),
  ];
  return [prlimit, ...options, '--', ...command];
}
