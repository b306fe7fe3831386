import type { Json } from './json.ts';

/** Far deeper values can be parsed but not written again, so the answer could not be sent. */
export const maxDepth = 1000;

/** A quick upper bound: no UTF-16 unit takes more than three bytes. Asking for the exact number costs a call for each text. */
const atMost = (text: string) => text.length * 3;
const exactly = (text: string) => Buffer.byteLength(text);

interface SizeOptions {
  /** Where it stops counting: the answer is then only known to be more. */
  most: number;
  exact?: boolean;
}

/** About how many bytes a value takes as JSON, without writing it; infinitely many where it is nested too deeply to be written at all. */
export function jsonSize(value: Json | undefined, { most, exact = false }: SizeOptions): number {
  return sizeAt(value, most, exact ? exactly : atMost, 0);
}

// It calls itself and allocates nothing: every answer passes here, and nearly all are small and flat.
function sizeAt(value: Json | undefined, most: number, bytesOf: (text: string) => number, depth: number): number {
  if (typeof value === 'string') return bytesOf(value) + 2;
  if (typeof value !== 'object' || value === null) return 8;
  if (depth === maxDepth) return Infinity;
  let size = 2;
  if (Array.isArray(value)) {
    for (const inner of value) {
      size += 1 + sizeAt(inner, most - size, bytesOf, depth + 1);
      if (size > most) return size;
    }
    return size;
  }
  for (const name in value) {
    size += bytesOf(name) + 4 + sizeAt(value[name], most - size, bytesOf, depth + 1);
    if (size > most) return size;
  }
  return size;
}
