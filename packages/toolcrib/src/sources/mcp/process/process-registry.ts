import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isLiving, membersOfGroup, readForks, readLargestPid, readProcess, readWorld } from './linux-process.ts';
import { endProcessGroup, processGroup } from './process-group.ts';
import { removeRunContainer, type RunContainer } from './remove-run-container.ts';

/**
 * [LIFE-5] Records our process groups in files, so that a gateway that is killed leaves nothing behind forever: the next one ends those it
 * finds here. Most servers are gone by then, because their input closed when the gateway died; this is for the others.
 *
 * Without Linux a process cannot be told from a later one with the same id. Then the next start ends nothing, and servers only notice that
 * their input has closed.
 */
export interface ProcessRegistry {
  /** Call it directly after the start of a process that leads its own group. */
  add(process: { pid: number; program: string; container?: RunContainer | undefined }): void;
  /** Call it when nothing of the group is left. */
  remove(pid: number): void;
  /** Ends the leftovers of an earlier gateway; resolves with the number of groups and containers that were still there. */
  reapOrphans(): Promise<number>;
}

const recordSchema = z.strictObject({
  pid: z.int().min(2),
  start_time: z.int().nullable(),
  /** Boot and process namespace: see `readWorld`. */
  world: z.string().nullable(),
  /** How many processes had been started since boot. */
  forks: z.int().nullable(),
  owner: z.strictObject({ pid: z.int(), start_time: z.int().nullable() }),
  /** For people who read the file. Without arguments, which may hold secrets. */
  program: z.string(),
  /** The container it made, by a name that is ours alone. It outlives the process and the boot. */
  container: z
    .strictObject({
      program: z.string().regex(/(?:^|[\\/])(?:docker|podman|nerdctl)(?:\.exe)?$/i),
      name: z.string().regex(/^toolcrib-run-[0-9a-f]+$/),
    })
    .optional(),
});
type ProcessRecord = z.infer<typeof recordSchema>;

/** Shorter than for a server that is being stopped: nobody has used these for a while. */
const termMs = 1000;

interface ProcessRegistryInput {
  dataDir: string;
  /** Variables that let the docker command find its engine. */
  dockerEnvironment?: Readonly<Record<string, string>>;
}

export function createProcessRegistry({ dataDir, dockerEnvironment }: ProcessRegistryInput): ProcessRegistry {
  const directory = join(dataDir, 'processes');
  const fileOf = (pid: number) => join(directory, `${pid}.json`);
  const world = readWorld();
  const owner = { pid: process.pid, start_time: readProcess(process.pid)?.startTime ?? null };
  mkdirSync(directory, { recursive: true, mode: 0o700 });

  function environment(): Record<string, string> {
    const { PATH = '', HOME = '' } = process.env;
    return { PATH, HOME, ...dockerEnvironment };
  }

  async function reap(file: string): Promise<boolean> {
    const record = readRecord(join(directory, file));
    if (record !== null && isOwned(record)) return false;
    const orphaned = record !== null && record.world === world && isStillThere(record);
    if (orphaned && !(await endProcessGroup(processGroup(record.pid), termMs))) return false;
    const removal = record?.container === undefined ? 'absent' : await removeRunContainer(record.container, environment(), false);
    // Where Docker is away, the next start tries again.
    if (removal !== 'failed') rmSync(join(directory, file), { force: true });
    return orphaned || removal === 'removed';
  }

  return {
    add({ pid, program, container }) {
      const start_time = readProcess(pid)?.startTime ?? null;
      const record: ProcessRecord = { pid, start_time, world, forks: readForks(), owner, program, container };
      writeFileSync(fileOf(pid), JSON.stringify(record), { mode: 0o600 });
    },
    remove(pid) {
      try {
        rmSync(fileOf(pid), { force: true });
      } catch {
        // The next start sees that the process is gone.
      }
    },
    async reapOrphans() {
      const files = readdirSync(directory).filter((name) => name.endsWith('.json'));
      return (await Promise.all(files.map(reap))).filter(Boolean).length;
    },
  };
}

/** An unreadable record names no process that we may end. */
function readRecord(path: string): ProcessRecord | null {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

/** Whether the gateway that started it is alive: this one, or another with the same data directory. */
function isOwned({ owner }: ProcessRecord): boolean {
  const facts = readProcess(owner.pid);
  return isLiving(facts) && facts.startTime === owner.start_time;
}

/** Whether the group exists and is certainly ours. */
function isStillThere({ pid, start_time, forks }: ProcessRecord): boolean {
  if (start_time === null) return false;
  const leader = readProcess(pid);
  // A number is reused only when no group has it: if another process has it now, ours is gone.
  if (leader !== null && leader.startTime !== start_time) return false;
  const members = membersOfGroup(pid).filter((member) => member.session === pid && member.startTime >= start_time);
  if (members.length === 0) return false;
  // Where the leader ended before its children, the group is ours unless its number may have been reused.
  return leader !== null || hasNotComeRound(forks);
}

/** Numbers are given out in a circle. After fewer starts than half of it, none has been reused. */
function hasNotComeRound(forks: number | null): boolean {
  const forksNow = readForks();
  return forks !== null && forksNow !== null && forksNow - forks < readLargestPid() / 2;
}
