/** Far above every limit: no need to count further. */
const mostInstructions = 1e9;

/**
 * Estimates how many steps an RE2 expression takes per character, without compiling it. An expression has about as many instructions as
 * characters, except that `x{20}` counts twenty times, and so does a repeated group.
 */
export function patternWork(pattern: string): number {
  let atoms = pattern.length;
  let groups = 1;
  for (const [, before, least = '0', most = ''] of pattern.matchAll(/(.)\{(\d{1,4})(?:,(\d{0,4}))?\}/g)) {
    const times = Math.max(1, Number(least), Number(most));
    if (before === ')') groups *= times;
    else atoms += times;
  }
  return Math.min(atoms * groups, mostInstructions);
}
