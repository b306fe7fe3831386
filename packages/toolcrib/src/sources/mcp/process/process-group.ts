import { setTimeout as delay } from 'node:timers/promises';
import { childrenOf, isLiving, membersOfGroup, readProcess } from './linux-process.ts';

/** The processes of one server. */
export interface ProcessGroup {
  signal(signal: NodeJS.Signals): void;
  isAlive(): boolean;
}

interface Stray {
  pid: number;
  startTime: number;
}

/** Only a process stuck inside the kernel survives SIGKILL; we do not wait for it forever. */
const killMs = 2000;
const longestPauseMs = 50;

/**
 * The process group of `leader` and, on Linux, its descendants that have left the group, as browsers do. Those are found through living
 * parents only, so call this while the leader lives. On Windows, which has no groups, it is the leader alone, and its children have to notice
 * that their input has closed.
 */
export function processGroup(leader: number): ProcessGroup {
  const strays = findStrays(leader);
  let groupGone = false;

  function isGroupAlive(): boolean {
    if (groupGone) return false;
    // An empty group is no longer ours: its number may be given to another.
    groupGone = !hasMembers(leader);
    return !groupGone;
  }

  return {
    isAlive: () => isGroupAlive() || strays.some(isStrayAlive),
    signal(signal) {
      if (isGroupAlive()) send(process.platform === 'win32' ? leader : -leader, signal);
      for (const stray of strays.filter(isStrayAlive)) send(stray.pid, signal);
    },
  };
}

/** SIGTERM, a grace period, SIGKILL. Resolves with false where a process is still left. */
export async function endProcessGroup(group: ProcessGroup, termMs: number): Promise<boolean> {
  group.signal('SIGTERM');
  if (await isGoneWithin(group, termMs)) return true;
  group.signal('SIGKILL');
  return await isGoneWithin(group, killMs);
}

async function isGoneWithin(group: ProcessGroup, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  for (let pause = 2; ; pause = Math.min(pause * 2, longestPauseMs)) {
    if (!group.isAlive()) return true;
    const left = deadline - performance.now();
    if (left <= 0) return false;
    await delay(Math.min(pause, left));
  }
}

function hasMembers(leader: number): boolean {
  if (process.platform === 'win32') return send(leader, 0);
  if (!send(-leader, 0)) return false;
  if (process.platform !== 'linux') return true;
  // Zombies count as members, for instance in a container without an init. They are no reason to wait.
  return isLiving(readProcess(leader)) || membersOfGroup(leader).length > 0;
}

function findStrays(leader: number): Stray[] {
  const seen = new Set([leader]);
  for (const pid of seen) for (const child of childrenOf(pid)) seen.add(child);
  return [...seen].flatMap((pid) => {
    const facts = readProcess(pid);
    return facts === null || facts.group === leader || pid === leader ? [] : [{ pid, startTime: facts.startTime }];
  });
}

function isStrayAlive({ pid, startTime }: Stray): boolean {
  const facts = readProcess(pid);
  return isLiving(facts) && facts.startTime === startTime;
}

/** Whether a process got the signal. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch (error) {
    // EPERM: the process exists, under another account.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
