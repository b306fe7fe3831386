import type { Range } from './covered-ranges.ts';

/** Finds every occurrence of many patterns in one pass over a text (Aho and Corasick, 1975). */
export interface TextMatcher {
  /** Every stretch that patterns cover, in order, those that overlap as one. */
  coveredIn(text: string): Range[];
}

/** No pattern is shorter, so that four letters tell where one can begin. */
export const shortestPattern = 4;

const root = 0;

/**
 * A tree of all patterns whose nodes are numbered; each knows the longest other beginning of a pattern that it ends with (`fallback`), so
 * the text is never read twice. Children are linked lists in flat arrays: nearly every node has one child, and a map per node would
 * cost many times the patterns themselves.
 */
export function createTextMatcher(patterns: readonly string[]): TextMatcher {
  const size = patterns.reduce((sum, pattern) => sum + pattern.length, 1);
  const unit = new Uint16Array(size);
  const firstChild = new Int32Array(size);
  const sibling = new Int32Array(size);
  const fallback = new Int32Array(size);
  /** The length of the longest pattern that ends at a node. */
  const ending = new Int32Array(size);
  const begins = new Uint8Array(2 ** Math.min(17, Math.max(10, Math.ceil(Math.log2(patterns.length * 32 + 1)))));
  const mask = begins.length - 1;

  function childOf(node: number, letter: number): number {
    let child = firstChild[node] ?? root;
    while (child !== root && unit[child] !== letter) child = sibling[child] ?? root;
    return child;
  }

  /** The node after one more letter. */
  function step(node: number, letter: number): number {
    let from = node;
    for (;;) {
      const child = childOf(from, letter);
      if (child !== root || from === root) return child;
      from = fallback[from] ?? root;
    }
  }

  let used = 1;
  for (const pattern of patterns) {
    begins[hashAt(pattern, 0) & mask] = 1;
    let node = root;
    for (let index = 0; index < pattern.length; index++) {
      const letter = pattern.charCodeAt(index);
      let child = childOf(node, letter);
      if (child === root) {
        child = used++;
        unit[child] = letter;
        sibling[child] = firstChild[node] ?? root;
        firstChild[node] = child;
      }
      node = child;
    }
    ending[node] = pattern.length;
  }

  // Level by level: a fallback is always nearer to the root than the node that needs it.
  const queue = [root];
  for (const node of queue) {
    for (let child = firstChild[node] ?? root; child !== root; child = sibling[child] ?? root) {
      fallback[child] = node === root ? root : step(fallback[node] ?? root, unit[child] ?? 0);
      ending[child] = Math.max(ending[child] ?? 0, ending[fallback[child] ?? root] ?? 0);
      queue.push(child);
    }
  }

  function coveredIn(text: string): Range[] {
    const covered: Range[] = [];
    let node = root;
    for (let index = 0; index < text.length; index++) {
      // Nothing has begun, and by its first letters nothing begins here: true of nearly every place in a text.
      if (node === root && begins[hashAt(text, index) & mask] === 0) continue;
      node = step(node, text.charCodeAt(index));
      const length = ending[node] ?? 0;
      if (length === 0) continue;
      let start = index + 1 - length;
      for (let last = covered.at(-1); last !== undefined && last[1] > start; last = covered.at(-1)) {
        start = Math.min(start, last[0]);
        covered.pop();
      }
      covered.push([start, index + 1]);
    }
    return covered;
  }

  return { coveredIn: (text) => (patterns.length === 0 ? [] : coveredIn(text)) };
}

/** Of the four letters at a place; past the end of a text there are zeros, which at worst cost a look into the tree. */
function hashAt(text: string, index: number): number {
  const first = text.charCodeAt(index) | (text.charCodeAt(index + 1) << 7);
  const second = text.charCodeAt(index + 2) | (text.charCodeAt(index + 3) << 7);
  const mixed = Math.imul(first ^ (second << 14), 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}
