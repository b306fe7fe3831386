import type { Json } from '../model/json.ts';

/** Far deeper values can be parsed but not written again, so the answer could not be sent. */
export const maxDepth = 1000;

/** A quick upper bound: no UTF-16 unit takes more than three bytes. Asking for the exact number costs a call for each text. */
const atMost = (text: string) => text.length * 3;
const exactly = (text: string) => Buffer.byteLength(text);

interface Weighing {
  /** Where it stops counting: the answer is then only known to be more. */
  most: number;
  exact?: boolean;
}

/** About how many bytes a value takes as JSON, without writing it; infinitely many where it is nested too deeply to be written at all. */
export function weigh(value: Json | undefined, { most, exact = false }: Weighing): number {
  return weighAt(value, most, exact ? exactly : atMost, 0);
}

// It calls itself and allocates nothing: every answer passes here, and nearly all are small and flat.
function weighAt(value: Json | undefined, most: number, bytesOf: (text: string) => number, depth: number): number {
  if (typeof value === 'string') return bytesOf(value) + 2;
  if (typeof value !== 'object' || value === null) return 8;
  if (depth === maxDepth) return Infinity;
  let weight = 2;
  if (Array.isArray(value)) {
    for (const inner of value) {
      weight += 1 + weighAt(inner, most - weight, bytesOf, depth + 1);
      if (weight > most) return weight;
    }
    return weight;
  }
  for (const name in value) {
    weight += bytesOf(name) + 4 + weighAt(value[name], most - weight, bytesOf, depth + 1);
    if (weight > most) return weight;
  }
  return weight;
}
