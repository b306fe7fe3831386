import { editDistance } from '../model/edit-distance.ts';

/** The candidate that was most likely meant, or undefined where none is near. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    // Typing the beginning of a long name is the commonest way to be wrong.
    const distance = word.length > 2 && candidate.startsWith(word) ? 1 : editDistance(word, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}
