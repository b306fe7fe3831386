import { expect, test } from 'vitest';
import { openEmbedder } from '../../../embeddings/src/index.ts';
import { createMeaningIndex } from '../../src/inventory/search/meaning-index.ts';
import { loadEmbedder } from '../../src/inventory/search/load-embedder.ts';
import { createToolSearch } from '../../src/inventory/search/tool-search.ts';
import type { Tool } from '../../src/model/tool.ts';
import { sampleTool } from '../fixtures/samples.ts';

const embedder = await openEmbedder();
const tools = [
  sampleTool({ namespace: 'zoo', name: 'feed_lion', text: 'Feeds a lion' }),
  sampleTool({ namespace: 'zoo', name: 'wash_elephant', text: 'Washes an elephant' }),
  sampleTool({ namespace: 'garage', name: 'repair_engine', text: 'Repairs an engine' }),
];

function search(query: string, all: readonly Tool[], visible: (tool: Tool) => boolean = () => true): string[] {
  const toolSearch = createToolSearch({ embedder });
  toolSearch.search('', all);
  return toolSearch.search(query, all.filter(visible)).map(({ name }) => name);
}

test('[FIND-1] tools are found that share no word with the query, with an embedder', () => {
  expect(createToolSearch().search('automobile motors', tools)).toEqual([]);
  expect(search('automobile motors', tools)).toEqual(['garage:repair_engine']);
});

test('[FIND-1] a query far from every tool finds nothing', () => {
  expect(search('zxqv', tools)).toEqual([]);
  expect(search('', tools)).toEqual([]);
});

test('[INV-4] [FIND-1] tools the caller may not see change neither the results of a search by meaning nor their order', () => {
  const isMine = ({ namespace }: Tool) => namespace === 'zoo';
  for (const query of ['tiger', 'clean big animals', 'automobile motors', 'feed an engine', 'elefant'])
    expect([query, search(query, tools, isMine)]).toEqual([query, search(query, tools.filter(isMine))]);
});

test('[FIND-1] a vector is made once for each definition, before anybody searches', () => {
  const embedded: string[] = [];
  const counting = {
    ...embedder,
    embed(text: string) {
      embedded.push(text);
      return embedder.embed(text);
    },
  };
  const meanings = createMeaningIndex(counting);
  for (const tool of tools) meanings.add(tool);
  expect(embedded).toEqual(['feed lion feed a lion', 'wash elephant wash an elephant', 'repair engine repair an engine']);
  const changed = sampleTool({ namespace: 'zoo', name: 'feed_lion', text: 'Feeds the old lion' });
  for (const tool of [changed, ...tools.slice(1)]) meanings.add(tool);
  expect(embedded.slice(3)).toEqual(['feed lion feed the old lion']);
  meanings.nearness(['tiger'], [changed, ...tools.slice(1)]);
  expect(embedded.slice(4)).toEqual(['tiger']);
});

test('[FIND-1] the package is loaded by its name, and a missing one is reported with what to do', async () => {
  expect((await loadEmbedder()).dimensions).toBe(128);
  await expect(loadEmbedder('@toolcrib/no-such')).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: expect.stringContaining('npm install @toolcrib/no-such'),
  });
  await expect(loadEmbedder('node:os')).rejects.toThrow(/node:os has no openEmbedder/);
});
