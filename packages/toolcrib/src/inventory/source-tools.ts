import type { SourceRecord } from '../model/source.ts';
import type { Tool } from '../model/tool.ts';
import { byName } from '../policy/tools-in-order.ts';
import { sourceTypeOf } from '../sources/registry.ts';
import type { Inventory } from './inventory.ts';
import type { Snapshot } from './snapshot.ts';

/** A source by its namespace, with the tools that can be called. */
export function sourceTools({ sources, snapshot }: Inventory, namespace: string): { namespace: string; tools: Tool[] } | undefined {
  const source = [...sources.values()].find((one) => one.namespace === namespace);
  if (source === undefined) return undefined;
  return { namespace, tools: activeToolsOf(snapshot, source.id) };
}

/** The tools of a source that can be called, by name. */
export function activeToolsOf(snapshot: Snapshot, sourceId: string): Tool[] {
  return snapshot
    .ofSource(sourceId)
    .filter(({ state }) => state === 'active')
    .sort(byName);
}

/** [WF-1] The sources whose steps call tools of other sources. */
export function boundSources(sources: ReadonlyMap<string, SourceRecord>, { source_type }: SourceRecord): SourceRecord[] {
  return [...sources.values()].filter((other) => other.enabled && sourceTypeOf(other.source_type).boundTo.includes(source_type));
}
