import { badArgument } from './bad-argument.ts';
import { charsetOf } from '../../upstream/http/media-type.ts';

type Encode = (text: string, refuse: (letter: string) => never) => Buffer;

/** Charsets that TextDecoder treats as another one, or that Node can write itself. */
const encodings: Record<string, Encode> = {
  'us-ascii': (text, refuse) => singleBytes(text, (letter) => (letter < '\u0080' ? letter.charCodeAt(0) : undefined), refuse),
  'iso-8859-1': (text, refuse) => singleBytes(text, (letter) => (letter < '\u0100' ? letter.charCodeAt(0) : undefined), refuse),
  'utf-16le': (text) => Buffer.from(text, 'utf16le'),
  'utf-16be': (text) => Buffer.from(text, 'utf16le').swap16(),
  // RFC 2781 §3.2: a byte order mark says which of the two it is.
  'utf-16': (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
};

/** Encodes a text in the charset of its media type, so that the Content-Type header is true. */
export function encodedText(text: string, contentType: string, argument: string): string | Buffer {
  const charset = charsetOf(contentType);
  if (charset === undefined) return text;
  const encode = Object.hasOwn(encodings, charset) ? encodings[charset] : byTable(charset);
  if (encode === undefined) {
    throw badArgument(
      argument,
      `would be sent in ${charset}, the charset in the document, which Toolcrib cannot write: correct the document`,
    );
  }
  return encode(text, (letter) => {
    throw badArgument(argument, `contains ${JSON.stringify(letter)}, which cannot be written in ${charset}, the charset in the document`);
  });
}

/** Inverts TextDecoder for charsets of one byte per letter. In other charsets, only letters of one byte can be written. */
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
