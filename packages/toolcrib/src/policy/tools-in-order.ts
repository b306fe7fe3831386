import type { Tool } from '../model/tool.ts';

/** The canonical order of tools: by name. */
export function byName(a: Tool, b: Tool): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** What a change takes away and brings. A changed tool is in both, as two objects. */
export interface ToolChange {
  readonly removed: ReadonlySet<Tool>;
  readonly added: ReadonlySet<Tool>;
}

/** A list in canonical order after a change. The list itself stays as it is, for those who still read it. */
export function changedInOrder(list: readonly Tool[], { removed, added }: ToolChange): readonly Tool[] {
  if (removed.size === 0 && added.size === 0) return list;
  const coming = [...added].sort(byName);
  const merged: Tool[] = [];
  let next = 0;
  for (const tool of list) {
    if (removed.has(tool)) continue;
    for (let other = coming[next]; other !== undefined && byName(other, tool) < 0; other = coming[++next]) merged.push(other);
    merged.push(tool);
  }
  for (; next < coming.length; next++) merged.push(coming[next] as Tool);
  return merged;
}
