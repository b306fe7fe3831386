import type { Tool } from '../model/tool.ts';

/** The tools at one moment. It never changes: a refresh makes a new one, so a reader never sees half of a change. */
export interface Snapshot {
  /** In canonical order, by name. */
  readonly tools: readonly Tool[];
  /** [NAME-1] By id, by `namespace:tool` and by `namespace.tool`. */
  readonly byReference: ReadonlyMap<string, Tool>;
}

export function createSnapshot(unordered: Iterable<Tool>): Snapshot {
  const tools = [...unordered].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const byReference = new Map<string, Tool>();
  for (const tool of tools) {
    // Neither ids nor namespaces contain `:` or `.`, so the three forms cannot be confused.
    byReference.set(tool.tool_id, tool);
    byReference.set(tool.name, tool);
    byReference.set(tool.name.replace(':', '.'), tool);
  }
  return { tools, byReference };
}
