import { badArgument } from './bad-argument.ts';
import { charsetOf } from './media-type.ts';

type Encode = (text: string, refuse: (letter: string) => never) => Buffer;

/** Those that TextDecoder knows under the same name as another, or that Node itself writes. */
const encodings: Record<string, Encode> = {
  'us-ascii': (text, refuse) => singleBytes(text, (letter) => (letter < '\u0080' ? letter.charCodeAt(0) : undefined), refuse),
  'iso-8859-1': (text, refuse) => singleBytes(text, (letter) => (letter < '\u0100' ? letter.charCodeAt(0) : undefined), refuse),
  'utf-16le': (text) => Buffer.from(text, 'utf16le'),
  'utf-16be': (text) => Buffer.from(text, 'utf16le').swap16(),
  // RFC 2781 §3.2: a mark at the beginning says which of the two it is.
  'utf-16': (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
};

/** A text in the charset that its media type names, so that whoever believes the header reads what was written. */
export function encodedText(text: string, contentType: string, argument: string): string | Buffer {
  const charset = charsetOf(contentType);
  if (charset === undefined) return text;
  const encode = Object.hasOwn(encodings, charset) ? encodings[charset] : byTable(charset);
  if (encode === undefined) {
    throw badArgument(argument, `would be sent in ${charset}, as the document says, which Toolcrib cannot write: correct the document`);
  }
  return encode(text, (letter) => {
    throw badArgument(argument, `contains ${JSON.stringify(letter)}, which cannot be written in ${charset}, as the document wants it`);
  });
}

/** The charsets of one byte for each letter, read backwards from what is known of reading them. Of the others, the letters that take one byte. */
function byTable(label: string): Encode | undefined {
  const decoder = decoderOf(label);
  if (decoder === undefined) return undefined;
  const table = new Map<string, number>();
  for (let byte = 0; byte < 256; byte++) {
    const letter = decoder.decode(Uint8Array.of(byte));
    if (letter.length === 1 && letter !== '\ufffd') table.set(letter, byte);
  }
  return (text, refuse) => singleBytes(text, (letter) => table.get(letter), refuse);
}

function decoderOf(label: string) {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}

function singleBytes(text: string, byteOf: (letter: string) => number | undefined, refuse: (letter: string) => never): Buffer {
  return Buffer.from(Array.from(text, (letter) => byteOf(letter) ?? refuse(letter)));
}
