import { readFile } from 'node:fs/promises';
import { createTokenizer } from './tokenizer.ts';

/** Turns texts into vectors; the angle between two vectors measures how similar the meanings are. */
export interface Embedder {
  readonly dimensions: number;
  /** A vector of length one; all zeros for a text without words. */
  embed(text: string): Float32Array;
}

const bytesOfFactor = 4;

/** Reads the weights of this package. The vector of a text is the normalised sum of its token vectors: no model runs. */
export async function openEmbedder(folder = new URL('../weights/', import.meta.url)): Promise<Embedder> {
  const tokens = JSON.parse(await readFile(new URL('tokens.json', folder), 'utf8')) as string[];
  const file = await readFile(new URL('vectors.bin', folder));
  const dimensions = file.byteLength / tokens.length - bytesOfFactor;
  if (!Number.isInteger(dimensions) || dimensions < 1)
    throw new Error(`The weights in ${folder.href} are damaged: install @toolcrib/embeddings again`);
  // Copied, because a Float32Array needs an aligned offset, which a Buffer may not have.
  const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength);
  const factors = new Float32Array(bytes, 0, tokens.length);
  const numbers = new Int8Array(bytes, tokens.length * bytesOfFactor);
  const tokenize = createTokenizer(tokens);
  return {
    dimensions,
    embed(text) {
      const sum = new Float32Array(dimensions);
      for (const token of tokenize(text)) {
        const factor = factors[token] ?? 0;
        const start = token * dimensions;
        for (let at = 0; at < dimensions; at++) sum[at] = (sum[at] ?? 0) + factor * (numbers[start + at] ?? 0);
      }
      const length = Math.hypot(...sum);
      return length === 0 ? sum : sum.map((value) => value / length);
    },
  };
}
