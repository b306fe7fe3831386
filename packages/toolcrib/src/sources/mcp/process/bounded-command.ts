import type { ProcessLimits } from '../../../model/process-limits.ts';

const mebibyte = 1_048_576;

/**
 * How much more than its share of memory a process may lay claim to before the kernel refuses it: Node.js reserves half a gigabyte that it
 * never fills. What is really filled is watched; this only stops what grows faster than anybody looks.
 */
const reserveMb = 1024;
/** For a process that has heard that its time is over, and goes on. */
const graceSeconds = 5;
/** Of all processes and threads of a user who runs nothing but servers: what a server that only multiplies can do until it is seen. */
const mostTasksOfUser = 4096;

/** The command behind `prlimit`, which sets the limits that the kernel itself holds and then becomes the program. */
export function boundedCommand(command: readonly string[], prlimit: string, limits: ProcessLimits, ownUser: boolean): string[] {
  const { memory_mb: memory, cpu_seconds: cpu, open_files: files } = limits;
  const options = [
    // What is in the memory of a server that crashes is nothing for a file.
    '--core=0',
    ...(memory === undefined ? [] : [`--data=${(memory + reserveMb) * mebibyte}`]),
    ...(cpu === undefined ? [] : [`--cpu=${cpu}:${cpu + graceSeconds}`]),
    ...(files === undefined ? [] : [`--nofile=${files}`]),
    ...(ownUser ? [`--nproc=${mostTasksOfUser}`] : []),
  ];
  return [prlimit, ...options, '--', ...command];
}
