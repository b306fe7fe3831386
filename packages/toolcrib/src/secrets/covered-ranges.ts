/** Start and end of a stretch of text. */
export type Range = readonly [start: number, end: number];

/** In order, those that overlap as one. */
export function mergeRanges(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const [start, end] of ranges.toSorted((left, right) => left[0] - right[0])) {
    const last = merged.at(-1);
    if (last !== undefined && last[1] > start) merged[merged.length - 1] = [last[0], Math.max(last[1], end)];
    else merged.push([start, end]);
  }
  return merged;
}

/** The text with every range replaced. */
export function replaceRanges(text: string, ranges: readonly Range[], replacement: string): string {
  const kept = ranges.map(([start], index) => text.slice(ranges[index - 1]?.[1] ?? 0, start));
  return [...kept, text.slice(ranges.at(-1)?.[1])].join(replacement);
}
