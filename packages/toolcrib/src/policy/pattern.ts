import type { Pattern } from '../model/policy.ts';
import { compileSafeRegex } from './safe-regex.ts';

/** [POL-4] A glob where `*` stands for any run of characters, or an RE2 expression; both must match the whole string. */
export function compilePattern(pattern: Pattern): (input: string) => boolean {
  return typeof pattern === 'string' ? compileGlob(pattern) : compileSafeRegex(pattern.regex);
}

function compileGlob(glob: string): (input: string) => boolean {
  const pieces = glob.split('*');
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  if (pieces.length === 1) return (input) => input === glob;
  const middle = pieces.slice(1, -1);
  return (input) => {
    if (input.length < first.length + last.length || !input.startsWith(first) || !input.endsWith(last)) return false;
    // The leftmost match of each piece leaves the most room for the next, so backtracking is never needed.
    let position = first.length;
    const end = input.length - last.length;
    for (const piece of middle) {
      const found = input.indexOf(piece, position);
      if (found < 0 || found + piece.length > end) return false;
      position = found + piece.length;
    }
    return position <= end;
  };
}
