import type { Json } from '../../../model/json.ts';

export interface Bounds {
  depth: number;
  /** With everything counted as often as it is reached, which with aliases of YAML can be more than any memory holds. */
  nodes: number;
}

/** How deep and how large a value is; what is below `deepest` is not looked at. `shared` where parts of it may be reached in several ways. */
export function boundsOf(value: Json, deepest: number, shared: boolean): Bounds {
  const known = new Map<object, Bounds>();

  function measure(node: Json, level: number): Bounds {
    if (typeof node !== 'object' || node === null) return { depth: 0, nodes: 1 };
    const before = shared ? known.get(node) : undefined;
    if (before !== undefined) return before;
    if (level > deepest) return { depth: 1, nodes: 1 };
    // Whoever comes here again before this is done has gone in a circle, which nothing of JSON does.
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
