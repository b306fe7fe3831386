import { editDistance } from '../../model/edit-distance.ts';

/** Shorter words have too many similar words to guess. */
const shortest = 4;
/** From this length on two typos are tolerated, below it one. */
const long = 8;

/**
 * The word with the fewest typos; among several, the one that more tools have. `counts` gives the number of tools for each candidate; a word
 * that no tool has is not a candidate.
 */
export function nearestWord(word: string, candidates: Iterable<string>, count: (candidate: string) => number): string | undefined {
  if (word.length < shortest) return undefined;
  let best: { candidate: string; distance: number; count: number } | undefined;
  for (const candidate of candidates) {
    const most = best?.distance ?? (word.length < long ? 1 : 2);
    const distance = editDistance(word, candidate, most);
    if (distance > most) continue;
    const found = { candidate, distance, count: count(candidate) };
    if (found.count > 0 && (best === undefined || isBetter(found, best))) best = found;
  }
  return best?.candidate;
}

type Candidate = { candidate: string; distance: number; count: number };

function isBetter(a: Candidate, b: Candidate): boolean {
  if (a.distance !== b.distance) return a.distance < b.distance;
  if (a.count !== b.count) return a.count > b.count;
  return a.candidate < b.candidate;
}
