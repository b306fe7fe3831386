import { readFile } from 'node:fs/promises';
import { createTokenizer } from './tokenizer.ts';

/** Gives texts vectors whose angle tells how near their meanings are. */
export interface Embedder {
  readonly dimensions: number;
  /** Of length one; all zeros for a text without words. */
  embed(text: string): Float32Array;
}

const bytesOfFactor = 4;

/** Reads the weights that come with this package. A text's vector is the mean of those of its tokens: no model runs. */
export async function openEmbedder(folder = new URL('../weights/', import.meta.url)): Promise<Embedder> {
  const tokens = JSON.parse(await readFile(new URL('tokens.json', folder), 'utf8')) as string[];
  const file = await readFile(new URL('vectors.bin', folder));
  const dimensions = file.byteLength / tokens.length - bytesOfFactor;
  if (!Number.isInteger(dimensions) || dimensions < 1)
    throw new Error(`The weights in ${folder.href} are damaged: install @toolcrib/embeddings again`);
  // A copy, because a buffer may begin where no number may.
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
