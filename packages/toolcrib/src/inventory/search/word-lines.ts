/**
 * Reads lines of `word word: other other`. Gives for every word of a line those before its colon: a word before the colon stands for the
 * others before it, too, unless `onlyAfter` is set.
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
