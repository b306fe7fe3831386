import type { Tool } from '../../model/tool.ts';
import { nearestWord } from './nearest-word.ts';
import { conceptsOf, type Concept } from './query-concepts.ts';
import { relatedWords } from './related-words.ts';
import { toolWords } from './tool-words.ts';
import { translations } from './translations.ts';

/** How fast repetition stops helping (BM25's k1). Lengths are taken into account where the words are counted. */
const saturation = 3;
/** What further words for the same concept add to the best one. */
const furtherWords = 0.3;
/** How much it counts that a tool has everything that is asked for, and not just one part of it many times. */
const completeness = 0.7;

export interface VisibleTools {
  readonly tools: readonly Tool[];
  has(tool: Tool): boolean;
}

interface Scores {
  concepts: readonly Concept[];
  scores: Map<Tool, number>;
}

export interface SearchIndex {
  /** Searches these tools from now on. The cost depends on how many came or went. */
  follow(tools: readonly Tool[]): void;
  /** How well each visible tool fits the query, where it fits at all. */
  score(query: string, visible: VisibleTools): Scores;
}

type Posting = readonly [tool: Tool, weight: number];

/**
 * [INV-4] BM25 over names, descriptions and parameters, for the words of the query and for synonyms. Tools that the caller may not see are
 * left out before anything is counted, so the order and ranks of the visible tools reveal nothing about the others.
 */
export function createSearchIndex(): SearchIndex {
  const postings = new Map<string, Map<Tool, number>>();
  let followed: readonly Tool[] = [];

  function add(tool: Tool): void {
    for (const [word, weight] of toolWords(tool)) {
      const ofWord = postings.get(word);
      if (ofWord === undefined) postings.set(word, new Map([[tool, weight]]));
      else ofWord.set(tool, weight);
    }
  }

  function remove(tool: Tool): void {
    for (const word of toolWords(tool).keys()) {
      const ofWord = postings.get(word);
      ofWord?.delete(tool);
      if (ofWord?.size === 0) postings.delete(word);
    }
  }

  /** A caller who may use ten tools out of thousands does not wait while the others are searched. */
  function visibleWith(word: string, visible: VisibleTools): Posting[] {
    const ofWord = postings.get(word);
    if (ofWord === undefined) return [];
    if (ofWord.size <= visible.tools.length) return [...ofWord].filter(([tool]) => visible.has(tool));
    return visible.tools.flatMap((tool) => {
      const weight = ofWord.get(tool);
      return weight === undefined ? [] : [[tool, weight] as const];
    });
  }

  function* candidates(): Iterable<string> {
    yield* postings.keys();
    yield* relatedWords.keys();
    yield* translations.keys();
  }

  function vocabularyOf(visible: VisibleTools) {
    const count = (word: string) => visibleWith(word, visible).length;
    const isKnown = (word: string) => relatedWords.has(word) || translations.has(word);
    return {
      has: (word: string) => count(word) > 0,
      nearest: (word: string) => nearestWord(word, candidates(), (candidate) => count(candidate) || Number(isKnown(candidate))),
    };
  }

  /** How well each tool matches one concept. */
  function scoreConcept({ words }: Concept, visible: VisibleTools): Map<Tool, number> {
    const best = new Map<Tool, number>();
    const sums = new Map<Tool, number>();
    for (const [word, worth] of words) {
      const list = visibleWith(word, visible);
      const rarity = worth * Math.log(1 + (visible.tools.length - list.length + 0.5) / (list.length + 0.5));
      for (const [tool, weight] of list) {
        const score = (rarity * weight * (saturation + 1)) / (weight + saturation);
        sums.set(tool, (sums.get(tool) ?? 0) + score);
        if (score > (best.get(tool) ?? 0)) best.set(tool, score);
      }
    }
    for (const [tool, score] of best) sums.set(tool, score + furtherWords * ((sums.get(tool) ?? 0) - score));
    return sums;
  }

  return {
    follow(tools) {
      if (tools === followed) return;
      const before = new Set(followed);
      const after = new Set(tools);
      for (const tool of before) if (!after.has(tool)) remove(tool);
      for (const tool of after) if (!before.has(tool)) add(tool);
      followed = tools;
    },
    score(query, visible) {
      const concepts = conceptsOf(query, vocabularyOf(visible));
      const sums = new Map<Tool, { score: number; concepts: number }>();
      for (const concept of concepts) {
        for (const [tool, score] of scoreConcept(concept, visible)) {
          const sum = sums.get(tool);
          if (sum === undefined) sums.set(tool, { score, concepts: 1 });
          else {
            sum.score += score;
            sum.concepts++;
          }
        }
      }
      const scores = new Map<Tool, number>();
      for (const [tool, sum] of sums) scores.set(tool, sum.score * (sum.concepts / concepts.length) ** completeness);
      return { concepts, scores };
    },
  };
}
