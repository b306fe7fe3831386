import { setImmediate } from 'node:timers/promises';
import type { Embedder } from '../../model/embedder.ts';
import type { Tool } from '../../model/tool.ts';
import type { ToolChange } from '../../policy/tools-in-order.ts';
import { InventoryTool } from '../inventory-tool.ts';
import { createMeaningIndex, type MeaningIndex } from './meaning-index.ts';
import type { Concept } from './query-concepts.ts';
import { createSearchIndex } from './search-index.ts';

/** How much similarity of meaning counts compared with words, where the best tool has 1. */
const meaningWorth = 0.5;
/** From this similarity on, a tool is found by its meaning alone. */
const nearEnough = 0.25;
/** After this long, other work gets a turn. */
const turnMs = 2;

export interface ToolSearch {
  /** [INV-4] The visible tools that fit the query, best first. They are given in canonical order. */
  search(query: string, visible: readonly Tool[]): Tool[];
  /** Follows a change of the tools, a few at a time. A search does not wait for that: it does first what it needs itself. */
  change(change: ToolChange): void;
  /** Resolves when all changes so far are followed. */
  settled(): Promise<void>;
  /** How many tools are in the index. */
  readonly indexed: number;
}

/** [FIND-1] Finds by words and, where there is an embedder, by meaning too. */
export function createToolSearch({ embedder }: { embedder?: Embedder | undefined } = {}): ToolSearch {
  const index = createSearchIndex();
  const meanings = embedder && createMeaningIndex(embedder);
  /** Tools that are not in the index yet. */
  const coming = new Set<Tool>();
  let following: Promise<void> | undefined;

  async function follow(): Promise<void> {
    let until = 0;
    for (const tool of coming) {
      if (performance.now() >= until) {
        await setImmediate();
        until = performance.now() + turnMs;
      }
      // It may be gone by now.
      if (!coming.delete(tool)) continue;
      const add = () => {
        index.add(tool);
        meanings?.add(tool);
      };
      try {
        if (tool instanceof InventoryTool) tool.briefly(add);
        else add();
      } catch {
        // If something is wrong with a tool, whoever uses it is told.
      }
    }
    following = undefined;
  }

  return {
    search(query, visible) {
      const { concepts, scores } = index.score(query, visible);
      if (meanings !== undefined) addMeaning(meanings, concepts, scores, visible);
      const found: { tool: Tool; score: number }[] = [];
      for (const [place, tool] of visible.entries()) {
        const score = scores[place] ?? 0;
        if (score > 0) found.push({ tool, score });
      }
      // Equal scores stay in the order of names.
      return found.sort((a, b) => b.score - a.score).map(({ tool }) => tool);
    },
    change({ removed, added }) {
      for (const tool of removed) {
        coming.delete(tool);
        index.delete(tool);
      }
      for (const tool of added) if (tool.state === 'active') coming.add(tool);
      following ??= follow();
    },
    settled: () => following ?? Promise.resolve(),
    get indexed() {
      return index.size;
    },
  };
}

function addMeaning(meanings: MeaningIndex, concepts: readonly Concept[], scores: Float64Array, tools: readonly Tool[]): void {
  let best = Number.MIN_VALUE;
  for (const score of scores) if (score > best) best = score;
  const words = concepts.map(({ understood }) => understood);
  const nearness = meanings.nearness(words, tools);
  for (const [place, near] of nearness.entries()) {
    const score = scores[place] ?? 0;
    if (score > 0 || near >= nearEnough) scores[place] = score / best + meaningWorth * near;
  }
}
