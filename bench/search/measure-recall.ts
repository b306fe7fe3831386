import type { Tool } from '../../packages/toolcrib/src/model/tool.ts';
import type { SearchRequest } from './requests.ts';

export type Ranker = (text: string) => readonly Tool[];

/** The position of the first right tool, from 1; Infinity if none was found. */
export function placesOf(ranker: Ranker, requests: readonly SearchRequest[]): number[] {
  return requests.map(({ text, isAnswer }) => {
    const index = ranker(text).findIndex(({ name }) => isAnswer(name));
    return index < 0 ? Infinity : index + 1;
  });
}

export interface Recall {
  at1: number;
  at5: number;
  at10: number;
  mrr: number;
}

/** The shares of requests whose right tool is among the first 1, 5 and 10, and the mean reciprocal rank. */
export function recallOf(places: readonly number[]): Recall {
  const share = (most: number) => places.filter((place) => place <= most).length / Math.max(places.length, 1);
  const mrr = places.reduce((sum, place) => sum + 1 / place, 0) / Math.max(places.length, 1);
  return { at1: share(1), at5: share(5), at10: share(10), mrr };
}
