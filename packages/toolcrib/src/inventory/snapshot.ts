import type { Tool } from '../model/tool.ts';
import { byName, changedInOrder, type ToolChange } from '../policy/tools-in-order.ts';

/** The tools of this moment. They change all at once, so a reader who does not wait in between never sees half of a change. */
export interface Snapshot {
  /** In canonical order, by name. A change makes another array. */
  readonly tools: readonly Tool[];
  /** [NAME-1] By id, by `namespace:tool` and by `namespace.tool`. */
  find(reference: string): Tool | undefined;
  /** In no order. */
  ofSource(sourceId: string): Tool[];
}

export interface LiveSnapshot extends Snapshot {
  change(change: ToolChange): void;
}

export function createSnapshot(tools: Iterable<Tool> = []): LiveSnapshot {
  const snapshot = new ToolTable();
  snapshot.change({ removed: new Set(), added: new Set(tools) });
  return snapshot;
}

class ToolTable implements LiveSnapshot {
  readonly #byId = new Map<string, Tool>();
  readonly #byName = new Map<string, Tool>();
  readonly #bySource = new Map<string, Set<Tool>>();
  #tools: readonly Tool[] = [];
  /** Not in the order of names yet. */
  readonly #waiting = { removed: new Set<Tool>(), added: new Set<Tool>() };

  get tools(): readonly Tool[] {
    const { removed, added } = this.#waiting;
    if (removed.size > 0 || added.size > 0) {
      this.#tools = this.#tools.length === 0 ? [...added].sort(byName) : changedInOrder(this.#tools, this.#waiting);
      removed.clear();
      added.clear();
    }
    return this.#tools;
  }

  find(reference: string): Tool | undefined {
    // Neither ids nor namespaces contain `:` or `.`, so the three forms cannot be confused.
    const found = this.#byName.get(reference) ?? this.#byId.get(reference);
    if (found !== undefined) return found;
    const dot = reference.indexOf('.');
    if (dot < 0 || reference.lastIndexOf(':', dot) >= 0) return undefined;
    return this.#byName.get(`${reference.slice(0, dot)}:${reference.slice(dot + 1)}`);
  }

  ofSource(sourceId: string): Tool[] {
    return [...(this.#bySource.get(sourceId) ?? [])];
  }

  change({ removed, added }: ToolChange): void {
    for (const tool of removed) this.#remove(tool);
    for (const tool of added) this.#add(tool);
  }

  #remove(tool: Tool): void {
    if (this.#byId.get(tool.tool_id) !== tool) return;
    this.#byId.delete(tool.tool_id);
    if (this.#byName.get(tool.name) === tool) this.#byName.delete(tool.name);
    const ofSource = this.#bySource.get(tool.source_id);
    ofSource?.delete(tool);
    if (ofSource?.size === 0) this.#bySource.delete(tool.source_id);
    if (!this.#waiting.added.delete(tool)) this.#waiting.removed.add(tool);
  }

  #add(tool: Tool): void {
    this.#byId.set(tool.tool_id, tool);
    this.#byName.set(tool.name, tool);
    const ofSource = this.#bySource.get(tool.source_id);
    if (ofSource === undefined) this.#bySource.set(tool.source_id, new Set([tool]));
    else ofSource.add(tool);
    if (!this.#waiting.removed.delete(tool)) this.#waiting.added.add(tool);
  }
}
