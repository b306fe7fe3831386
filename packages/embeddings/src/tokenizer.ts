/** What stands for the space before a word in its first token. */
const space = '\u2581';
/** Longer ones are no words, and splitting takes time that grows with the square of the length. */
const longestWord = 64;

/**
 * Splits a text into the tokens of the weights: characters first, then again and again the two neighbours that make the token with the
 * lowest number, which is the order they were merged in when the tokens were made (byte-pair encoding). No token reaches over a space, so
 * that each word is split for itself.
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

  /** A character that is no token is its bytes. */
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
