import { printable } from './printable.ts';

export interface AlignOptions {
  /** The maximum length of a line; the last column is cut to fit. */
  width?: number;
  indent?: number;
  /** The minimum width of each column. */
  least?: readonly number[];
  /** Colours a cell after padding, so that colours never shift a column. */
  paint?: (text: string, column: number, row: number) => string;
}

const gap = 2;
/** Narrower columns would be unreadable, so lines become too long instead. */
const narrowest = 10;

/** Formats rows of cells as lines with aligned columns. */
export function align(rows: readonly (readonly string[])[], options: AlignOptions = {}): string[] {
  const { width = Infinity, indent = 0, least = [], paint = (text) => text } = options;
  const cells = rows.map((row) => row.map((cell) => printable(cell).replaceAll(/\s+/g, ' ').trim()));
  const last = Math.max(...cells.map((row) => row.length)) - 1;
  const widths = Array.from({ length: last }, (_, column) =>
    Math.max(least[column] ?? 0, ...cells.map((row) => textWidth(row[column] ?? ''))),
  );
  const before = indent + widths.reduce((sum, next) => sum + next + gap, 0);
  const left = Math.max(narrowest, width - before);
  return cells.map((row, index) => {
    const painted = row.map((cell, column) => {
      if (column === last) return paint(cut(cell, left), column, index);
      return paint(cell.padEnd(cell.length + (widths[column] ?? 0) - textWidth(cell)), column, index);
    });
    return `${' '.repeat(indent)}${painted.join(' '.repeat(gap))}`.trimEnd();
  });
}

const segmenter = new Intl.Segmenter();
const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** The width of a text in terminal columns: East Asian letters and emoji take two. */
function textWidth(text: string): number {
  let sum = 0;
  for (const { segment } of segmenter.segment(text)) sum += wide.test(segment) ? 2 : 1;
  return sum;
}

/** Cuts a text to fit the width. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const { segment } of segmenter.segment(text)) {
    used += wide.test(segment) ? 2 : 1;
    if (used > width) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}
