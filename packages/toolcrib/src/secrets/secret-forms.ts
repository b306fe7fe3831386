import { shortestPattern } from './text-matcher.ts';

/** A shorter line of a longer secret says little, and may be anything. */
const shortestLine = 16;
/** A piece of base64 that is shorter is too often something else. */
const shortestPiece = 6;

/** An encoded text longer than this is a file, not a secret. */
const longestEncoded = 16_384;
/** A shorter piece could come together by chance where lines are joined. */
const shortestWrapped = 16;

/** How a secret value may be written in what a server prints: as it is, and as JSON, addresses, forms, base64 and hex have it. */
export function secretForms(value: string): string[] {
  const forms = new Set<string>();
  for (const text of new Set([value, value.trim(), ...linesOf(value)])) {
    if (text.length < shortestPattern) continue;
    const escaped = JSON.stringify(text).slice(1, -1);
    const encoded = encodeURIComponent(text.toWellFormed());
    // Twice for JSON that is a text within JSON.
    forms.add(text).add(escaped).add(JSON.stringify(escaped).slice(1, -1)).add(asciiOnly(escaped)).add(escaped.replaceAll('/', '\\/'));
    for (const form of bothCases(encoded)) forms.add(form);
    forms.add(new URLSearchParams([['', text]]).toString().slice(1));
    for (const form of base64Forms(text)) forms.add(form);
    if (text.length > longestEncoded) continue;
    for (const form of bothCases(encoded)) forms.add(encodeURIComponent(form));
    for (const form of hexForms(text)) forms.add(form);
  }
  return [...forms];
}

/** Those that may be found in a text whose line breaks have been taken out: what is wrapped to a width is long, and mostly encoded. */
export function wrappedForms(value: string): string[] {
  const text = value.trim();
  if (text.length > longestEncoded) return [];
  return [text, ...base64Forms(text), ...hexForms(text)].filter((form) => form.length >= shortestWrapped);
}

/** The digits of percent-encoding, as most write them and in small letters. */
function bothCases(encoded: string): string[] {
  return [encoded, encoded.replaceAll(/%../g, (code) => code.toLowerCase())];
}

function hexForms(text: string): string[] {
  const digits = Buffer.from(text).toString('hex');
  return [digits, digits.toUpperCase()];
}

/** A private key is printed line by line, and a log is read line by line. */
function linesOf(value: string): string[] {
  if (!value.includes('\n')) return [];
  const lines = value.split('\n').map((line) => line.trim());
  return lines.filter((line) => line.length >= shortestLine && !line.startsWith('-----'));
}

function asciiOnly(escaped: string): string {
  // oxlint-disable-next-line no-control-regex -- everything that is not ASCII is meant
  return escaped.replaceAll(/[^\x00-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Whole, and as part of something longer such as `user:password`, where it begins at one of three places within a group of letters. */
function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text);
  const pieces = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    // Only the letters that no byte before or after it has a part in.
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const whole = bytes.toString('base64');
  // As `base64` and `openssl` print them: a log is read line by line, and sees no more than one of them.
  const lines = [64, 76].flatMap((width) => whole.match(new RegExp(`.{${shortestLine},${width}}`, 'g')) ?? []);
  const forms = [
    whole,
    whole.replace(/=+$/, ''),
    ...pieces.filter((piece) => piece.length >= shortestPiece),
    ...(lines.length > 2 ? lines : []),
  ];
  return forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}
