import type { Embedder } from '../../model/embedder.ts';
import type { Tool } from '../../model/tool.ts';
import { headline, ownName } from './tool-words.ts';
import { wordsOf } from './words.ts';

export interface MeaningIndex {
  /** Computes the vector before a search needs it. */
  add(tool: Tool): void;
  /** How similar each tool is in meaning, from 0 to 1, in the order of the tools. */
  nearness(words: readonly string[], tools: readonly Tool[]): Float32Array;
}

/** A changed tool is a new object and an unchanged one the same: vectors are computed once for each definition. */
export function createMeaningIndex(embedder: Embedder): MeaningIndex {
  const vectors = new WeakMap<Tool, Float32Array>();

  function vectorOf(tool: Tool): Float32Array {
    const known = vectors.get(tool);
    if (known !== undefined) return known;
    const vector = embedder.embed(wordsOf(`${ownName(tool)} ${headline(tool)}`).join(' '));
    vectors.set(tool, vector);
    return vector;
  }

  return {
    add: (tool) => void vectorOf(tool),
    nearness(words, tools) {
      const wanted = embedder.embed(words.join(' '));
      const found = new Float32Array(tools.length);
      for (const [index, tool] of tools.entries()) found[index] = Math.max(0, product(wanted, vectorOf(tool)));
      return found;
    },
  };
}

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  // Both have the same length. This runs for every tool on every search.
  for (let at = 0; at < a.length; at++) sum += (a[at] as number) * (b[at] as number);
  return sum;
}
