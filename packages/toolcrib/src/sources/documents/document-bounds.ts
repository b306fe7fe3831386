import type { Json } from '../../model/json.ts';

export interface Bounds {
  depth: number;
  /** The number of values, each counted as often as it is reached. With YAML aliases that can exceed any memory. */
  nodes: number;
}

/** Measures the depth and size of a value, down to level `deepest`. Set `shared` if YAML aliases may reach a part in several ways. */
export function boundsOf(value: Json, deepest: number, shared: boolean): Bounds {
  const known = new Map<object, Bounds>();

  function measure(node: Json, level: number): Bounds {
    if (typeof node !== 'object' || node === null) return { depth: 0, nodes: 1 };
    const before = shared ? known.get(node) : undefined;
    if (before !== undefined) return before;
    if (level > deepest) return { depth: 1, nodes: 1 };
    // Finding this entry before it is replaced below means a cycle, which JSON cannot express.
    if (shared) known.set(node, { depth: Infinity, nodes: Infinity });
    let depth = 0;
    let nodes = 1;
    for (const part of Array.isArray(node) ? node : Object.values(node)) {
      const inner = measure(part, level + 1);
      depth = Math.max(depth, inner.depth);
      nodes += inner.nodes;
    }
    const bounds = { depth: depth + 1, nodes };
    if (shared) known.set(node, bounds);
    return bounds;
  }

  return measure(value, 1);
}
