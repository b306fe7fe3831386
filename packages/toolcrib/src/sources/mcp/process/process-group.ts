import { setTimeout as delay } from 'node:timers/promises';
import { childrenOf, isLiving, membersOfGroup, readProcess } from './linux-process.ts';

/** Everything one server has started and not let out of sight. */
export interface ProcessGroup {
  signal(signal: NodeJS.Signals): void;
  isAlive(): boolean;
}

interface Stray {
  pid: number;
  startTime: number;
}

/** After SIGKILL only a process stuck inside the kernel stays; we do not wait for it for ever. */
const killMs = 2000;
const longestPauseMs = 50;

/**
 * The process group that `leader` leads and, where the kernel tells (Linux), its descendants that have meanwhile left the group, as
 * browsers do. Those are found through living parents only, so this is to be called while the leader is there. On Windows, where there are
 * no groups, it is the leader alone, and its children are left to notice that their input has closed.
 */
export function processGroup(leader: number): ProcessGroup {
  const strays = findStrays(leader);
  let groupGone = false;

  function isGroupAlive(): boolean {
    if (groupGone) return false;
    // Once empty it is not ours any more: the number may be given to somebody else's group.
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

/** SIGTERM, time to leave, SIGKILL. Resolves when nothing is left, with false where something still is. */
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
  // The dead that nobody collects count as members, for instance in a container without an init. They are no reason to wait.
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

/** Whether there was anybody to get it. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch (error) {
    // EPERM: it is there, under another account.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
