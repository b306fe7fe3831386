import { mkdtemp, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openEmbedder } from '../src/index.ts';
import { createTokenizer } from '../src/tokenizer.ts';

/** The output of wordllama 0.4.0.post1 and its tokenizer for these texts, cut to as many dimensions; the first values to four places. */
const reference = [
  { text: 'create an issue', tokens: [1653, 385, 2228], begins: [0.0632, 0.0741, 0.2618, -0.1612, 0.0204, -0.0174] },
  {
    text: 'Who am I logged in as?',
    tokens: [11644, 626, 306, 13817, 297, 408, 29973],
    begins: [-0.0337, -0.0635, 0.0884, 0.0456, 0.1588, 0.1146],
  },
  { text: 'delete the repository github', tokens: [5217, 278, 9810, 18546], begins: [0.006, 0.1028, -0.0188, -0.141, -0.0926, 0.1498] },
  {
    text: 'naïve café Straße 天気 予報',
    tokens: [1055, 30085, 345, 274, 28059, 22667, 29871, 30408, 31648, 29871, 231, 189, 139, 31519],
    begins: [-0.1239, 0.103, 0.042, -0.1544, -0.1262, -0.023],
  },
  {
    text: 'xqzjwv 12345 foo_bar-baz',
    tokens: [921, 29939, 29920, 29926, 29893, 29894, 29871, 29896, 29906, 29941, 29946, 29945, 7953, 29918, 1646, 29899, 27975],
    begins: [-0.1306, -0.161, -0.1662, -0.0249, -0.0214, -0.0682],
  },
  { text: 'ContainerArchiveInfo', tokens: [21679, 13197, 573, 3401], begins: [-0.0234, 0.0153, -0.0347, -0.0118, -0.0728, 0.0874] },
  { text: '🙂 ok', tokens: [29871, 243, 162, 156, 133, 3431], begins: [-0.0154, 0.0052, -0.0752, 0.0641, 0.0408, -0.2196] },
  { text: 'a', tokens: [263], begins: [0.0127, 0.0161, -0.0702, 0.0522, -0.0156, 0.0943] },
  {
    text: 'unbelievably antidisestablishmentarianism',
    tokens: [443, 6596, 10384, 2197, 3677, 333, 275, 342, 370, 1674, 358, 13956, 1608],
    begins: [-0.0038, -0.1683, 0.0864, 0.0272, -0.0128, -0.0166],
  },
];

const embedder = await openEmbedder();
const tokens = JSON.parse(readFileSync(new URL('../weights/tokens.json', import.meta.url), 'utf8')) as string[];
const nearness = (a: string, b: string) => embedder.embed(a).reduce((sum, value, at) => sum + value * (embedder.embed(b)[at] ?? 0), 0);

describe('[FIND-1] the embedder', () => {
  test.each(reference)('splits $text as the tokenizer of the weights does', ({ text, tokens: expected }) => {
    expect(createTokenizer(tokens)(text)).toEqual(expected);
  });

  test.each(reference)('gives $text the same vector as the original model, within rounding', ({ text, begins }) => {
    const vector = embedder.embed(text);
    expect(vector).toHaveLength(128);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    for (const [at, value] of begins.entries()) expect(Math.abs((vector[at] ?? 0) - value)).toBeLessThan(0.002);
  });

  test('places texts of the same meaning closer together than unrelated ones', () => {
    expect(nearness('erase a ticket', 'delete an issue')).toBeGreaterThan(0.4);
    expect(nearness('erase a ticket', 'bake a pizza')).toBeLessThan(0.1);
  });

  test.each(['', '   \n\t ', '\ud800', 'x'.repeat(100_000), '\u0000'])('accepts any text: %#', (text) => {
    expect([0, 1]).toContain(Math.round(Math.hypot(...embedder.embed(text)) * 1000) / 1000);
  });

  test('reports damaged weights', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'toolcrib-weights-'));
    await writeFile(join(folder, 'tokens.json'), '["a","b","c"]');
    await writeFile(join(folder, 'vectors.bin'), Buffer.alloc(20));
    await expect(openEmbedder(pathToFileURL(`${folder}/`))).rejects.toThrow(/damaged: install @toolcrib\/embeddings again/);
  });
});
