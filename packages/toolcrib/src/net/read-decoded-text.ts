import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { CribError } from '../model/crib-error.ts';

/** The encodings that we can decode; requests accept no others. */
export const acceptedEncodings = 'gzip, br';

function decoderFor(encoding: string) {
  switch (encoding) {
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'deflate':
      return createInflate();
    default:
      throw new CribError('NETWORK_ERROR', `The answer has a content encoding that was not asked for: ${encoding.slice(0, 40)}`);
  }
}

/**
 * Reads a body as text and stops at the first chunk that takes it over `maxBytes`. The bytes are counted after decoding, so a small
 * compressed body cannot unfold into a large one; leaving the loop destroys the stream, and with it the connection.
 */
export async function readDecodedText(body: Readable, encoding: string, maxBytes: number): Promise<string> {
  const decoder = decoderFor(encoding.trim().toLowerCase());
  // The loop below sees every error of the pipeline, because the decoder is destroyed with it.
  const decoded = decoder ? pipeline(body, decoder, () => undefined) : body;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of decoded as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks, size));
}

export function tooLarge(maxBytes: number): CribError {
  return new CribError('PAYLOAD_TOO_LARGE', `The document is larger than the ${maxBytes} bytes allowed for it`);
}
