import type { Range } from './covered-ranges.ts';

/** A line break, also one that JSON has escaped, and how far the next line is indented. */
const breaks = /(?:[\r\n]|\\[rn])+[ \t]*/g;

/** Texts that programs wrap to a width, such as base64, as they were before. Undefined where nothing is wrapped. */
export function unwrap(text: string): string | undefined {
  return text.includes('\n') || text.includes('\\n') ? text.replaceAll(breaks, '') : undefined;
}

/** Where ranges of the unwrapped text, in order, lie in the text itself. */
export function wrappedRanges(text: string, ranges: readonly Range[]): Range[] {
  const cuts: { at: number; length: number }[] = [];
  let removed = 0;
  for (const { index, 0: cut } of text.matchAll(breaks)) {
    cuts.push({ at: index - removed, length: cut.length });
    removed += cut.length;
  }
  let next = 0;
  let before = 0;
  const original = (place: number, isEnd: boolean) => {
    // A break right after the end is not part of it.
    for (let cut = cuts[next]; cut !== undefined && (isEnd ? cut.at < place : cut.at <= place); cut = cuts[++next]) before += cut.length;
    return place + before;
  };
  return ranges.map(([start, end]) => [original(start, false), original(end, true)]);
}
