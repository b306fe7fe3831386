import type { SourceRecord } from '../model/source.ts';
import type { Tool } from '../model/tool.ts';
import type { Counter } from './counter.ts';

/** A source by its namespace, with the tools that can be called. */
export function sourceTools({ sources, snapshot }: Counter, namespace: string): { namespace: string; tools: Tool[] } | undefined {
  const source = [...sources.values()].find((one) => one.namespace === namespace);
  if (source === undefined) return undefined;
  return { namespace, tools: snapshot.tools.filter(({ source_id, state }) => source_id === source.id && state === 'active') };
}

/** [WF-1] Whose steps are calls of other sources' tools. */
export function workflowSources(sources: ReadonlyMap<string, SourceRecord>): SourceRecord[] {
  return [...sources.values()].filter((source) => source.source_type === 'workflow' && source.enabled);
}
