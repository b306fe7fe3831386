import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { tooLarge } from './http-body.ts';
import { ProtocolError } from '../model/named-errors.ts';

const decoders = { gzip: promisify(gunzip), 'x-gzip': promisify(gunzip), br: promisify(brotliDecompress), deflate: promisify(inflate) };

/** Decodes a compressed body. The bytes are counted after decoding, so that a small body cannot unfold into a large one. */
export async function decodeBody(bytes: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const name = encoding.trim().toLowerCase();
  if (bytes.length === 0 || !Object.hasOwn(decoders, name)) {
    if (bytes.length === 0 || name === 'identity') return bytes;
    throw new ProtocolError(`The answer has a content encoding that was not asked for: ${name.slice(0, 40)}`);
  }
  try {
    return await decoders[name as keyof typeof decoders](bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw new ProtocolError(`The answer is not the ${name} that it says it is`, { cause });
  }
}
