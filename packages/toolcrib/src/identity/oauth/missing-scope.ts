/** Longer than any sensible list; a server that asks for ever more is not followed for ever. */
const longestScope = 4000;

/**
 * All that was had and all that is wanted now, or undefined where nothing of that is new: then asking the user again would be no use. A
 * server that does not say what it wants gets what it had (RFC 6750 §3.1).
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
