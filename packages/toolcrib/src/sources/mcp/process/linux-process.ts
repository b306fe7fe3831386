import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The kernel's facts about one process; see proc_pid_stat(5). */
export interface ProcessFacts {
  /** `Z` and `X` are dead, and not yet reaped by their parent. */
  state: string;
  group: number;
  session: number;
  /** In clock ticks since boot: with the pid it identifies one process, and no later one. */
  startTime: number;
}

/** Null where there is no such process, or no Linux. */
export function readProcess(pid: number): ProcessFacts | null {
  const fields = statFields(pid);
  if (fields === null) return null;
  return { state: fields[0] ?? '', group: Number(fields[2]), session: Number(fields[3]), startTime: Number(fields[19]) };
}

/** The resources that one living process uses. */
export interface ProcessUsage {
  pid: number;
  parent: number;
  group: number;
  residentBytes: number;
}

/** On x86 and almost every other machine. With larger pages, the memory in use is underestimated. */
const pageBytes = 4096;

/** Every living process of the machine, read one by one; none where there is no Linux. */
export function* readUsage(): Generator<ProcessUsage> {
  for (const name of list('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statFields(Number(name));
    if (fields === null || fields[0] === 'Z' || fields[0] === 'X') continue;
    yield { pid: Number(name), parent: Number(fields[1]), group: Number(fields[2]), residentBytes: Number(fields[21]) * pageBytes };
  }
}

export function isLiving(facts: ProcessFacts | null): facts is ProcessFacts {
  return facts !== null && facts.state !== 'Z' && facts.state !== 'X';
}

/** Every living process of a group. Reads all processes of the machine, so use it only where a cheaper check does not settle it. */
export function membersOfGroup(group: number): ProcessFacts[] {
  return list('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
    .filter((facts) => isLiving(facts) && facts.group === group) as ProcessFacts[];
}

/** The children of a process, including those that its threads have started. */
export function childrenOf(pid: number): number[] {
  const texts = list(`/proc/${pid}/task`).map((task) => readText(`/proc/${pid}/task/${task}/children`) ?? '');
  return texts.flatMap((text) => text.split(' ').filter(Boolean).map(Number));
}

/** Identifies this boot of this machine, or this container: process ids mean nothing outside it. Null where there is no Linux. */
export function readWorld(): string | null {
  const boot = readText('/proc/sys/kernel/random/boot_id');
  if (boot === null) return null;
  try {
    return `${boot.trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return boot.trim();
  }
}

/** How many processes and threads have been started since boot. */
export function readForks(): number | null {
  const found = /^processes (\d+)$/m.exec(readText('/proc/stat') ?? '');
  return found === null ? null : Number(found[1]);
}

/** The number after which process ids start again from the bottom. */
export function readLargestPid(): number {
  return Number(readText('/proc/sys/kernel/pid_max') ?? 0);
}

/** From the third field on, which is the state. */
function statFields(pid: number): string[] | null {
  const stat = readText(`/proc/${pid}/stat`);
  // The second field is the program's name in brackets, which may itself contain spaces and brackets.
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
