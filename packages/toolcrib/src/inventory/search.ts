import type { Tool } from '../model/tool.ts';
import { wordsOf, wordWeights } from './words.ts';

/** The usual BM25 constants: how fast repetition stops helping, and how much long texts are held back. */
const saturation = 1.2;
const lengthPenalty = 0.75;

export interface SearchIndex {
  /** Of the visible tools those that fit the query, best first. */
  search(query: string, visible: VisibleTools): Tool[];
}

interface VisibleTools {
  readonly tools: readonly Tool[];
  has(tool: Tool): boolean;
}

type Posting = readonly [tool: Tool, weight: number];

/**
 * [INV-4] BM25 over names, descriptions and parameters. Tools the caller may not see are left out before anything is counted,
 * so neither the order nor the ranks of what is shown tell anything about what is not.
 */
export function createSearchIndex(tools: readonly Tool[]): SearchIndex {
  const postings = new Map<string, Map<Tool, number>>();
  const lengths = new Map<Tool, number>();
  for (const tool of tools) {
    let length = 0;
    for (const [word, weight] of wordWeights(tool)) {
      length += weight;
      const ofWord = postings.get(word);
      if (ofWord === undefined) postings.set(word, new Map([[tool, weight]]));
      else ofWord.set(tool, weight);
    }
    lengths.set(tool, length);
  }

  /** Whoever may use ten tools out of thousands does not wait for the others to be looked through. */
  function visibleWith(word: string, visible: VisibleTools): Posting[] {
    const ofWord = postings.get(word);
    if (ofWord === undefined) return [];
    if (ofWord.size <= visible.tools.length) return [...ofWord].filter(([tool]) => visible.has(tool));
    return visible.tools.flatMap((tool) => {
      const weight = ofWord.get(tool);
      return weight === undefined ? [] : [[tool, weight] as const];
    });
  }

  return {
    search(query, visible) {
      const matches = [...new Set(wordsOf(query))].map((word) => visibleWith(word, visible));
      const found = new Set(matches.flatMap((list) => list.map(([tool]) => tool)));
      const meanLength = [...found].reduce((sum, tool) => sum + (lengths.get(tool) ?? 0), 0) / Math.max(found.size, 1);
      const scores = new Map<Tool, number>();
      for (const list of matches) {
        const rarity = Math.log(1 + (visible.tools.length - list.length + 0.5) / (list.length + 0.5));
        for (const [tool, weight] of list) {
          const norm = 1 - lengthPenalty + (lengthPenalty * (lengths.get(tool) ?? 0)) / meanLength;
          const score = (rarity * weight * (saturation + 1)) / (weight + saturation * norm);
          scores.set(tool, (scores.get(tool) ?? 0) + score);
        }
      }
      return [...scores].sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || (a.name < b.name ? -1 : 1)).map(([tool]) => tool);
    },
  };
}
