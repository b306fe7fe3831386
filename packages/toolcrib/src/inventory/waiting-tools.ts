import { isWaiting } from './pinning.ts';
import type { Tool } from '../model/tool.ts';
import type { Snapshot } from './snapshot.ts';

const counted = new WeakMap<readonly Tool[], ReadonlyMap<string, number>>();

/** [INV-3] How many tools of each source wait for approval, by source id; sources without any are left out. */
export function waitingTools({ tools }: Snapshot): ReadonlyMap<string, number> {
  const known = counted.get(tools);
  if (known !== undefined) return known;
  const counts = new Map<string, number>();
  for (const tool of tools)
    if (isWaiting(tool) && tool.state !== 'deprecated') counts.set(tool.source_id, (counts.get(tool.source_id) ?? 0) + 1);
  counted.set(tools, counts);
  return counts;
}
