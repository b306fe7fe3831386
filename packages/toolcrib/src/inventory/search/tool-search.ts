import type { Embedder } from '../../model/embedder.ts';
import type { Tool } from '../../model/tool.ts';
import { createMeaningIndex, type MeaningIndex } from './meaning-index.ts';
import type { Concept } from './query-concepts.ts';
import { createSearchIndex, type VisibleTools } from './search-index.ts';

/** How much similarity of meaning counts compared with words, where the best tool has 1. */
const meaningWorth = 0.5;
/** From this similarity on, a tool is found by its meaning alone. */
const nearEnough = 0.25;

export interface ToolSearch {
  /** [INV-4] The visible tools that fit the query, best first. `tools` are all tools. */
  search(query: string, tools: readonly Tool[], visible: VisibleTools): Tool[];
  /** Prepares for the next search after the tools have changed. */
  changed(tools: readonly Tool[]): void;
}

/** [FIND-1] Finds by words and, where there is an embedder, by meaning too. No words are indexed before the first search. */
export function createToolSearch({ embedder }: { embedder?: Embedder | undefined } = {}): ToolSearch {
  const index = createSearchIndex();
  const meanings = embedder && createMeaningIndex(embedder);

  return {
    search(query, tools, visible) {
      index.follow(tools);
      const { concepts, scores } = index.score(query, visible);
      if (meanings !== undefined) addMeaning(meanings, concepts, scores, visible.tools);
      const found = [...scores].map(([tool, score]) => ({ tool, score }));
      return found.sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1)).map(({ tool }) => tool);
    },
    changed(tools) {
      // If something is wrong, the next search reports it.
      meanings?.follow(tools).catch(() => undefined);
    },
  };
}

function addMeaning(meanings: MeaningIndex, concepts: readonly Concept[], scores: Map<Tool, number>, tools: readonly Tool[]): void {
  let best = Number.MIN_VALUE;
  for (const score of scores.values()) if (score > best) best = score;
  const words = concepts.map(({ understood }) => understood);
  const nearness = meanings.nearness(words, tools);
  for (const [index, tool] of tools.entries()) {
    const score = scores.get(tool);
    const near = nearness[index] ?? 0;
    if (score !== undefined || near >= nearEnough) scores.set(tool, (score ?? 0) / best + meaningWorth * near);
  }
}
