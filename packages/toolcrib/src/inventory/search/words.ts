/** Scripts that put no space between words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
let segmenter: Intl.Segmenter | undefined;

/**
 * The words of a text as search compares them: characters normalised, accents of Latin letters removed, camelCase and snake_case split,
 * plurals folded.
 */
export function wordsOf(text: string): string[] {
  // Most text is ASCII, where the same rules are far cheaper to follow; an index is made of millions of words.
  if (!/[^\0-\x7f]/.test(text)) return asciiWords(text);
  const parted = text
    .normalize('NFKD')
    .replaceAll(/(\p{Script=Latin})[\u0300-\u036f]+/gu, '$1')
    .normalize('NFC')
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase();
  return (parted.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).flatMap((word) => (unspaced.test(word) ? segmentsOf(word) : [singular(word)]));
}

function asciiWords(text: string): string[] {
  const parted = /[a-z0-9][A-Z]/.test(text) ? text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2') : text;
  return (parted.toLowerCase().match(/[a-z0-9]+/g) ?? []).map(singular);
}

/** Made on first use: it is rarely needed. */
function segmentsOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter('ja', { granularity: 'word' });
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}

function singular(word: string): string {
  if (word.length <= 3 || !word.endsWith('s') || word.endsWith('ss')) return word;
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(ch|sh|x|ss|z)es$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}
