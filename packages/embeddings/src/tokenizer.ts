/** Represents the space before a word in its first token. */
const space = '\u2581';
/** Longer strings are not words, and the time to split them grows with the square of the length. */
const longestWord = 64;

/**
 * Splits a text into the tokens of the weights by byte-pair encoding: starts with characters, then repeatedly merges the two neighbours
 * that form the token with the lowest number, which is the order in which the tokens were learned. No token spans a space, so each word is
 * split separately.
 */
export function createTokenizer(tokens: readonly string[]): (text: string) => number[] {
  const numbers = new Map(tokens.map((token, number) => [token, number]));

  function tokensOfWord(word: string): number[] {
    const parts = Array.from(`${space}${word.slice(0, longestWord)}`);
    while (parts.length > 1) {
      let lowest = Infinity;
      let at = -1;
      for (let index = 0; index + 1 < parts.length; index++) {
        const number = numbers.get(`${parts[index]}${parts[index + 1]}`) ?? Infinity;
        if (number < lowest) [lowest, at] = [number, index];
      }
      if (at < 0) break;
      parts.splice(at, 2, `${parts[at]}${parts[at + 1]}`);
    }
    return parts.flatMap((part) => numbers.get(part) ?? bytesOf(part));
  }

  /** A character without a token of its own is split into bytes. */
  function bytesOf(character: string): number[] {
    const names = [...new TextEncoder().encode(character)].map((byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
    return names.flatMap((name) => numbers.get(name) ?? []);
  }

  return (text) =>
    text
      .split(/\s+/)
      .filter((word) => word !== '')
      .flatMap(tokensOfWord);
}
