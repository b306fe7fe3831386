import { phrases } from './phrases.ts';
import { relatedWords } from './related-words.ts';
import { smallWords } from './small-words.ts';
import { translations } from './translations.ts';
import { wordsOf } from './words.ts';

/** One thing that a query asks for. */
export interface Concept {
  /** The word as understood: spelled correctly, in English. */
  understood: string;
  /** The words a tool may be described with, and how much each counts. */
  words: ReadonlyMap<string, number>;
}

export interface Vocabulary {
  /** Whether a tool has the word. */
  has(word: string): boolean;
  /** The word that was most likely meant. */
  nearest(word: string): string | undefined;
}

/** How much a synonym counts compared with the word itself. */
const worth = { related: 0.6, phrase: 0.8, corrected: 0.8, translated: 0.8, relatedToTranslated: 0.4 };
/** Longer queries are cut, and only this many words are corrected: the caller decides how much time both cost. */
const mostConcepts = 40;
const mostCorrections = 8;

/** The concepts of a query, in words that tools are described with. */
export function conceptsOf(query: string, vocabulary: Vocabulary): Concept[] {
  const words = wordsOf(query);
  const concepts = new Map<string, Concept>();
  let corrections = 0;
  const correct = (word: string) => (++corrections > mostCorrections ? undefined : vocabulary.nearest(word));
  for (let at = 0; at < words.length && concepts.size < mostConcepts; at++) {
    const word = words[at] ?? '';
    const phrase = phrases.get(word)?.find(({ said }) => said.every((part, index) => words[at + index] === part));
    if (phrase !== undefined) {
      const [understood = word] = phrase.meant;
      concepts.set(phrase.said.join(' '), { understood, words: new Map(phrase.meant.map((meant) => [meant, worth.phrase])) });
      at += phrase.said.length - 1;
    } else if (!smallWords.has(word) && !concepts.has(word)) concepts.set(word, conceptOf(word, { has: vocabulary.has, nearest: correct }));
  }
  if (concepts.size > 0) return [...concepts.values()];
  // A query that consists of small words only is taken literally.
  return [...new Set(words)].slice(0, mostConcepts).map((word) => ({ understood: word, words: new Map([[word, 1]]) }));
}

function conceptOf(word: string, vocabulary: Vocabulary): Concept {
  const words = new Map([[word, 1]]);
  const offer = (other: string, value: number) => words.set(other, Math.max(words.get(other) ?? 0, value));
  const isUsed = vocabulary.has(word);
  const spelled = isUsed || relatedWords.has(word) || translations.has(word) ? word : vocabulary.nearest(word);
  if (spelled === undefined) return { understood: word, words };
  const sure = spelled === word ? 1 : worth.corrected;
  if (spelled !== word) offer(spelled, sure);
  for (const other of relatedWords.get(spelled) ?? []) offer(other, sure * worth.related);
  // A word that tools are described with is not translated, even if it looks foreign.
  const meanings = isUsed ? undefined : translations.get(spelled);
  for (const meaning of meanings ?? []) {
    offer(meaning, sure * worth.translated);
    for (const other of relatedWords.get(meaning) ?? []) offer(other, sure * worth.relatedToTranslated);
  }
  return { understood: meanings?.values().next().value ?? spelled, words };
}
