import { editDistance } from '../../model/edit-distance.ts';

/** Shorter words have too many neighbours to guess. */
const shortest = 4;
/** From this length on two mistakes are forgiven, below it one. */
const long = 8;

/**
 * The word with the fewest mistakes in it, of several the one that more tools have. `counts` says how many tools have a candidate: one that
 * none has is no candidate.
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
