import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessUsage {
  cpuSeconds: number;
  rssMb: number;
}

/** The length of a tick of processor time that Linux reports, whatever the kernel itself uses. */
const ticksPerSecond = 100;

/** The processor time and memory of a process so far; undefined without /proc. */
export function processUsage(pid: number): ProcessUsage | undefined {
  try {
    const rssKb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return { cpuSeconds: cpuSecondsIn(readFileSync(`/proc/${pid}/stat`, 'utf8')), rssMb: Math.round(Number(rssKb) / 102.4) / 10 };
  } catch {
    return undefined;
  }
}

/** The processor time of the main thread of a process so far; undefined without /proc. */
export function mainThreadCpuSeconds(pid: number): number | undefined {
  try {
    return cpuSecondsIn(readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

/** proc(5): utime and stime are fields 14 and 15; the second field is a name in parentheses that may hold spaces. */
function cpuSecondsIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** The descendants of a process; none without /proc. */
export function descendantsOf(pid: number): number[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
    return children.concat(children.flatMap(descendantsOf));
  } catch {
    return [];
  }
}

/** The processor time of the whole machine so far, steal time included; undefined without /proc. */
export function machineCpuSeconds(): number | undefined {
  try {
    // proc(5): user, nice, system, idle, iowait, irq, softirq, steal.
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = readFileSync('/proc/stat', 'utf8')
      .slice(0, 200)
      .split(/\s+/)
      .slice(1, 9)
      .map(Number);
    return (user + nice + system + irq + softirq + steal) / ticksPerSecond;
  } catch {
    return undefined;
  }
}
