/** More than anybody may make: counting further would tell nothing. */
const mostInstructions = 1e9;

/**
 * About how many steps an RE2 expression takes for each character, told without compiling it. There are about as many instructions as
 * characters, but that `x{20}` is twenty, and a group that is repeated is there as often.
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
