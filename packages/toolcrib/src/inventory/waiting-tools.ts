import { isWaiting } from './pinning.ts';
import type { Snapshot } from './snapshot.ts';

const counted = new WeakMap<Snapshot, ReadonlyMap<string, number>>();

/** [INV-3] How many tools of each source wait for approval, by source id; sources without any are left out. */
export function waitingTools(snapshot: Snapshot): ReadonlyMap<string, number> {
  const known = counted.get(snapshot);
  if (known !== undefined) return known;
  const counts = new Map<string, number>();
  for (const tool of snapshot.tools)
    if (isWaiting(tool) && tool.state !== 'deprecated') counts.set(tool.source_id, (counts.get(tool.source_id) ?? 0) + 1);
  counted.set(snapshot, counts);
  return counts;
}
