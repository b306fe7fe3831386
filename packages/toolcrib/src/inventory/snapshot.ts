import type { Tool } from '../model/tool.ts';

/** The tools at one moment. Never changed: a refresh makes a new one, so a reader never sees half of it. */
export interface Snapshot {
  /** In canonical order, by name. */
  readonly tools: readonly Tool[];
  /** [NAME-1] Finds by id, `namespace:tool` or `namespace.tool`. */
  find(reference: string): Tool | undefined;
}

export function createSnapshot(unordered: Iterable<Tool>): Snapshot {
  const tools = [...unordered].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const byReference = new Map<string, Tool>();
  for (const tool of tools) {
    // Ids hold neither `:` nor `.`, and a namespace holds neither, so the three forms cannot be taken for one another.
    byReference.set(tool.tool_id, tool);
    byReference.set(tool.name, tool);
    byReference.set(tool.name.replace(':', '.'), tool);
  }
  return { tools, find: (reference) => byReference.get(reference) };
}
