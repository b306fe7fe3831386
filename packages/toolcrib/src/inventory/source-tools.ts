import type { SourceRecord } from '../model/source.ts';
import type { Tool } from '../model/tool.ts';
import { sourceTypeOf } from '../sources/registry.ts';
import type { Inventory } from './inventory.ts';

/** A source by its namespace, with the tools that can be called. */
export function sourceTools({ sources, snapshot }: Inventory, namespace: string): { namespace: string; tools: Tool[] } | undefined {
  const source = [...sources.values()].find((one) => one.namespace === namespace);
  if (source === undefined) return undefined;
  return { namespace, tools: snapshot.tools.filter(({ source_id, state }) => source_id === source.id && state === 'active') };
}

/** [WF-1] The sources whose steps call tools of other sources. */
export function boundSources(sources: ReadonlyMap<string, SourceRecord>, { source_type }: SourceRecord): SourceRecord[] {
  return [...sources.values()].filter((other) => other.enabled && sourceTypeOf(other.source_type).boundTo.includes(source_type));
}
