import type { DefinitionFlag } from '../model/definition-flag.ts';

type Kind = DefinitionFlag['kind'];

/** Characters that people do not see, or that change the order of what they see; not tabs and line breaks. */
const hidden =
  // oxlint-disable-next-line no-control-regex -- these are the characters to find
  /[\p{Default_Ignorable_Code_Point}\p{Co}\p{Cs}\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb]/gu;

const kinds: [Kind, RegExp][] = [
  ['private_use', /\p{Co}/u],
  ['tag_characters', /[\u{e0000}-\u{e007f}]/u],
  ['variation_selectors', /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}\u180b-\u180f]/u],
  ['direction_control', /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u],
  ['control_character', /[\p{Cc}\p{Cs}\u2028\u2029]/u],
  ['invisible_character', hidden],
];

/** The flags of England, Scotland and Wales are the only pictures that are written with tags. */
const flagsWithTags =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;

const letter = /[\p{L}\p{M}]/u;
const picture = /\p{Extended_Pictographic}/u;
const joined = /\p{Extended_Pictographic}|\ufe0f|[\u{1f3fb}-\u{1f3ff}]/u;
/** Scripts in which a joiner decides how a word is written. */
const joiningScript =
  /[\p{scx=Arab}\p{scx=Syrc}\p{scx=Nkoo}\p{scx=Mong}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}]/u;
const spacelessScript = /[\p{scx=Khmr}\p{scx=Mymr}\p{scx=Thai}\p{scx=Laoo}]/u;
const rightToLeft = /[\p{scx=Arab}\p{scx=Hebr}\p{scx=Syrc}\p{scx=Thaa}\p{scx=Nkoo}]/u;

/** [INV-3] The first hidden character of each kind in a text. Characters that a script or an emoji properly needs do not count. */
export function findHiddenCharacters(text: string): { kind: Kind; index: number }[] {
  const found = new Map<Kind, number>();
  for (const [kind, index] of hiddenIn(text)) if (!found.has(kind)) found.set(kind, index);
  return [...found].map(([kind, index]) => ({ kind, index }));
}

/** The text with every hidden character shown as its code. */
export function escapeHidden(text: string): string {
  const parts: string[] = [];
  let end = 0;
  for (const [, index, character] of hiddenIn(text)) {
    parts.push(text.slice(end, index), `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`);
    end = index + character.length;
  }
  return parts.join('') + text.slice(end);
}

function* hiddenIn(text: string): Generator<[Kind, index: number, character: string]> {
  const flags = [...text.matchAll(flagsWithTags)].map(({ index, 0: { length } }) => [index, index + length] as const);
  const hasRightToLeft = rightToLeft.test(text);
  let next = 0;
  for (const { index, 0: character } of text.matchAll(hidden)) {
    while (index >= (flags[next]?.[1] ?? Infinity)) next++;
    const inFlag = index > (flags[next]?.[0] ?? Infinity);
    if (inFlag || isProper(character, text, index, hasRightToLeft)) continue;
    yield [kindOf(character), index, character];
  }
}

function kindOf(character: string): Kind {
  return kinds.find(([, pattern]) => character.search(pattern) >= 0)?.[0] ?? 'invisible_character';
}

/** Whether the character is used there as intended. */
function isProper(character: string, text: string, index: number, hasRightToLeft: boolean): boolean {
  const before = characterBefore(text, index);
  const code = text.codePointAt(index + character.length);
  const after = code === undefined ? '' : String.fromCodePoint(code);
  switch (character) {
    case '\u00ad': // soft hyphen
      return letter.test(before) && letter.test(after);
    case '\u200b': // a place to break the line, in scripts without spaces
      return spacelessScript.test(before) && spacelessScript.test(after);
    case '\u200c': // zero width non-joiner
      return joiningScript.test(before);
    case '\u200d': // zero width joiner
      return joiningScript.test(before) || (joined.test(before) && picture.test(after));
    case '\u061c':
    case '\u200e':
    case '\u200f': // marks of direction
      return hasRightToLeft;
    case '\ufe0e':
    case '\ufe0f': // as text, as a picture
      return picture.test(before) || (/[\d#*]/.test(before) && after === '\u20e3');
    default:
      if (/[\u180b-\u180f]/.test(character)) return /\p{scx=Mong}/u.test(before);
      if (/[\ufe00-\ufe0d]/.test(character)) return /[\p{scx=Han}\p{scx=Mymr}\p{scx=Phag}\p{Sm}]/u.test(before);
      return /[\u{e0100}-\u{e01ef}]/u.test(character) && /\p{scx=Han}/u.test(before);
  }
}

function characterBefore(text: string, index: number): string {
  if (index === 0) return '';
  const pair = index >= 2 ? text.slice(index - 2, index) : '';
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(pair) ? pair : text.charAt(index - 1);
}
