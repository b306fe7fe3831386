/**
 * Reads lines of `word word: other other`. Maps every word of a line to the words before its colon; those before the colon map to each other
 * too, unless `onlyAfter` is set.
 */
export function wordLines(lines: string, { onlyAfter = false } = {}): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const line of lines.trim().split('\n')) {
    const [before = [], after = []] = line.split(': ').map((part) => part.split(' '));
    for (const word of onlyAfter ? after : [...before, ...after]) {
      const others = found.get(word) ?? new Set();
      found.set(word, others);
      for (const other of before) if (other !== word) others.add(other);
    }
  }
  return found;
}
