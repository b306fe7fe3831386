import type { Tool } from '../../model/tool.ts';
import { nearestWord } from './nearest-word.ts';
import { slotOf, weightOf } from './posting-list.ts';
import { conceptsOf, type Concept } from './query-concepts.ts';
import { relatedWords } from './related-words.ts';
import { translations } from './translations.ts';
import { WordIndex, type VisibleSlots } from './word-index.ts';

/** How fast repetition stops helping (BM25's k1). Lengths are taken into account where the words are counted. */
const saturation = 3;
/** What further words for the same concept add to the best one. */
const furtherWords = 0.3;
/** How much it counts that a tool has everything that is asked for, and not just one part of it many times. */
const completeness = 0.7;

interface Scores {
  concepts: readonly Concept[];
  /** In the order of the visible tools; 0 where a tool does not fit. */
  scores: Float64Array;
}

export interface SearchIndex {
  readonly size: number;
  add(tool: Tool): void;
  delete(tool: Tool): void;
  /** How well each visible tool fits the query. Tools that were not added yet are added. */
  score(query: string, visible: readonly Tool[]): Scores;
}

/**
 * [INV-4] BM25 over names, descriptions and parameters, for the words of the query and for synonyms. Tools that the caller may not see are
 * left out before anything is counted, so the order and ranks of the visible tools reveal nothing about the others.
 */
export function createSearchIndex(): SearchIndex {
  const index = new WordIndex();

  function* candidates(): Iterable<string> {
    yield* index.words();
    yield* relatedWords.keys();
    yield* translations.keys();
  }

  function vocabularyOf(visible: VisibleSlots) {
    const count = (word: string) => index.postings(word, visible).length;
    const isKnown = (word: string) => relatedWords.has(word) || translations.has(word);
    return {
      has: (word: string) => count(word) > 0,
      nearest: (word: string) => nearestWord(word, candidates(), (candidate) => count(candidate) || Number(isKnown(candidate))),
    };
  }

  /** Adds how well each tool matches one concept to the sums, and counts the concepts that each matches. */
  function addConcept({ words }: Concept, visible: VisibleSlots, total: Float64Array, matched: Uint8Array): void {
    const best = new Float64Array(index.slots);
    const sums = new Float64Array(index.slots);
    const found: number[] = [];
    for (const [word, worth] of words) {
      const postings = index.postings(word, visible);
      const rarity = worth * Math.log(1 + (visible.slots.length - postings.length + 0.5) / (postings.length + 0.5));
      for (const posting of postings) {
        const slot = slotOf(posting);
        const weight = weightOf(posting);
        const score = (rarity * weight * (saturation + 1)) / (weight + saturation);
        const sum = sums[slot] ?? 0;
        if (sum === 0) found.push(slot);
        sums[slot] = sum + score;
        if (score > (best[slot] ?? 0)) best[slot] = score;
      }
    }
    for (const slot of found) {
      const most = best[slot] ?? 0;
      total[slot] = (total[slot] ?? 0) + most + furtherWords * ((sums[slot] ?? 0) - most);
      matched[slot] = (matched[slot] ?? 0) + 1;
    }
  }

  return {
    get size() {
      return index.size;
    },
    add: (tool) => index.add(tool),
    delete: (tool) => index.delete(tool),
    score: (query, tools) =>
      index.among(tools, (visible) => {
        const concepts = conceptsOf(query, vocabularyOf(visible));
        const total = new Float64Array(index.slots);
        const matched = new Uint8Array(index.slots);
        for (const concept of concepts) addConcept(concept, visible, total, matched);
        const scores = Float64Array.from(
          visible.slots,
          (slot) => (total[slot] ?? 0) * ((matched[slot] ?? 0) / Math.max(1, concepts.length)) ** completeness,
        );
        return { concepts, scores };
      }),
  };
}
