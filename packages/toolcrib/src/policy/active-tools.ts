import type { Tool } from '../model/tool.ts';
import { byName, changedInOrder, type ToolChange } from './tools-in-order.ts';

/** Changes are kept for as many tools as this, or as there are: who is further behind starts afresh, which costs no more. */
const fewestKept = 1000;

/** The tools that can be called at this moment, and what changed about them lately, so that lists can be brought up to date. */
export class ActiveTools {
  readonly #byId = new Map<string, Tool>();
  /** The change that led to a version is at the place of that version, counted from the oldest one kept. */
  readonly #changes: ToolChange[] = [];
  #toolsInChanges = 0;
  #version = 0;
  #inOrder: readonly Tool[] = [];
  #inOrderVersion = -1;
  #lastAsked: { from: number; to: number; change: ToolChange } | undefined;

  constructor(tools: Iterable<Tool> = []) {
    for (const tool of tools) if (tool.state === 'active') this.#byId.set(tool.tool_id, tool);
  }

  /** One more with every change. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#byId.size;
  }

  get(toolId: string): Tool | undefined {
    return this.#byId.get(toolId);
  }

  [Symbol.iterator](): Iterator<Tool> {
    return this.#byId.values();
  }

  get inOrder(): readonly Tool[] {
    if (this.#inOrderVersion !== this.#version) {
      const change = this.since(this.#inOrderVersion);
      this.#inOrder = change === undefined ? [...this.#byId.values()].sort(byName) : changedInOrder(this.#inOrder, change);
      this.#inOrderVersion = this.#version;
    }
    return this.#inOrder;
  }

  /** Those of the added tools that are not active are left out; those of the removed that were not there are ignored. */
  change(removed: Iterable<Tool>, added: Iterable<Tool>): void {
    const gone = new Set<Tool>();
    const come = new Set<Tool>();
    for (const tool of removed) if (this.#byId.get(tool.tool_id) === tool) gone.add(tool);
    for (const tool of gone) this.#byId.delete(tool.tool_id);
    for (const tool of added) {
      if (tool.state !== 'active') continue;
      const before = this.#byId.get(tool.tool_id);
      if (before === tool) continue;
      if (before !== undefined) gone.add(before);
      this.#byId.set(tool.tool_id, tool);
      if (!gone.delete(tool)) come.add(tool);
    }
    if (gone.size === 0 && come.size === 0) return;
    this.#version++;
    // Everything is new: nobody has a list that the change could be applied to.
    if (come.size === this.#byId.size) this.#changes.length = this.#toolsInChanges = 0;
    else this.#note(gone, come);
  }

  #note(gone: ReadonlySet<Tool>, come: ReadonlySet<Tool>): void {
    this.#changes.push({ removed: gone, added: come });
    this.#toolsInChanges += gone.size + come.size;
    while (this.#toolsInChanges > Math.max(fewestKept, this.#byId.size)) {
      const oldest = this.#changes.shift();
      if (oldest === undefined) break;
      this.#toolsInChanges -= oldest.removed.size + oldest.added.size;
    }
  }

  /** What has changed since that version, in sum; undefined if that is too long ago. */
  since(version: number): ToolChange | undefined {
    const behind = this.#version - version;
    if (behind > this.#changes.length) return undefined;
    const known = this.#lastAsked;
    if (known?.from === version && known.to === this.#version) return known.change;
    const change = sumOf(this.#changes.slice(this.#changes.length - behind));
    this.#lastAsked = { from: version, to: this.#version, change };
    return change;
  }
}

function sumOf(changes: readonly ToolChange[]): ToolChange {
  const [only] = changes;
  if (only !== undefined && changes.length === 1) return only;
  const removed = new Set<Tool>();
  const added = new Set<Tool>();
  for (const change of changes) {
    for (const tool of change.removed) if (!added.delete(tool)) removed.add(tool);
    for (const tool of change.added) if (!removed.delete(tool)) added.add(tool);
  }
  return { removed, added };
}
