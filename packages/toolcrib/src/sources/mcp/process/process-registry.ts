import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isLiving, membersOfGroup, readForks, readLargestPid, readProcess, readWorld } from './linux-process.ts';
import { endProcessGroup, processGroup } from './process-group.ts';
import { removeRunContainer, type RunContainer } from './remove-run-container.ts';

/**
 * [LIFE-5] Which process groups are ours, in files, so that a gateway which is killed leaves nothing behind for ever: the next one ends what
 * it finds here. Most servers are gone by then, because their input closed when the gateway died; this is for the others.
 *
 * Where there is no Linux, a process cannot be told from a later one with the same number. Nothing is ended there at the next start, and
 * the servers' input closing is all there is.
 */
export interface ProcessRegistry {
  /** To be called directly after the start of a process that leads its own group. */
  add(process: { pid: number; program: string; container?: RunContainer | undefined }): void;
  /** When nothing of its group is left. */
  remove(pid: number): void;
  /** Ends what an earlier gateway has left; resolves with the number of groups and containers that were still there. */
  reapOrphans(): Promise<number>;
}

const recordSchema = z.strictObject({
  pid: z.int().min(2),
  start_time: z.int().nullable(),
  /** Boot and process namespace: see `readWorld`. */
  world: z.string().nullable(),
  /** How many processes there had been since boot. */
  forks: z.int().nullable(),
  owner: z.strictObject({ pid: z.int(), start_time: z.int().nullable() }),
  /** For people who look. Without arguments, which may hold secrets. */
  program: z.string(),
  /** What it has made, by a name that nobody else gives. It outlives the process and the boot. */
  container: z
    .strictObject({
      program: z.string().regex(/(?:^|[\\/])(?:docker|podman|nerdctl)(?:\.exe)?$/i),
      name: z.string().regex(/^toolcrib-run-[0-9a-f]+$/),
    })
    .optional(),
});
type ProcessRecord = z.infer<typeof recordSchema>;

/** Shorter than for a server that is being stopped: nobody has spoken with these for a while. */
const termMs = 1000;

interface ProcessRegistryInput {
  dataDir: string;
  /** With what the docker command finds its engine. */
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
        // The next start sees that there is no such process any more.
      }
    },
    async reapOrphans() {
      const files = readdirSync(directory).filter((name) => name.endsWith('.json'));
      return (await Promise.all(files.map(reap))).filter(Boolean).length;
    },
  };
}

/** A record that cannot be read names nothing that we may end. */
function readRecord(path: string): ProcessRecord | null {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

/** Whether the gateway that started it lives: this one, or another with the same data directory. */
function isOwned({ owner }: ProcessRecord): boolean {
  const facts = readProcess(owner.pid);
  return isLiving(facts) && facts.startTime === owner.start_time;
}

/** Whether the group is there, and surely ours. */
function isStillThere({ pid, start_time, forks }: ProcessRecord): boolean {
  if (start_time === null) return false;
  const leader = readProcess(pid);
  // Numbers are given out again only when no group carries them: if another process has it now, ours is long gone.
  if (leader !== null && leader.startTime !== start_time) return false;
  const members = membersOfGroup(pid).filter((member) => member.session === pid && member.startTime >= start_time);
  if (members.length === 0) return false;
  // Where the leader has gone before its children, the group is ours unless its number can have come round again.
  return leader !== null || hasNotComeRound(forks);
}

/** Numbers are given out in a circle. Fewer starts than half of it, and none has been given out twice. */
function hasNotComeRound(forks: number | null): boolean {
  const forksNow = readForks();
  return forks !== null && forksNow !== null && forksNow - forks < readLargestPid() / 2;
}
