/** Longer than any sensible list: a server could ask for more and more. */
const longestScope = 4000;

/**
 * All scopes that were granted and all that are wanted now, or undefined where none of these is new: then asking the user again would not
 * help. A server that does not say what it wants gets what it had (RFC 6750 §3.1).
 */
export function missingScope(wanted: string | undefined, had: readonly (string | undefined)[]): string | undefined {
  const known = new Set(had.flatMap(wordsOf));
  const added = wordsOf(wanted).filter((word) => !known.has(word));
  const union = [...known, ...new Set(added)].join(' ');
  return added.length === 0 || union.length > longestScope ? undefined : union;
}

function wordsOf(scope: string | undefined): string[] {
  // RFC 6749 §3.3
  return (scope ?? '').split(' ').filter((word) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(word));
}
