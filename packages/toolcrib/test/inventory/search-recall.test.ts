import { beforeAll, describe, expect, test } from 'vitest';
import { createEarlierSearch } from '../../../../bench/search/baselines/earlier-search.ts';
import { corpusTools } from '../../../../bench/search/corpus-tools.ts';
import { placesOf, recallOf, type Ranker } from '../../../../bench/search/measure-recall.ts';
import { readRequests, type SearchRequest } from '../../../../bench/search/requests.ts';
import { openEmbedder } from '../../../embeddings/src/index.ts';
import { createToolSearch } from '../../src/inventory/search/tool-search.ts';
import type { Tool } from '../../src/model/tool.ts';
import { part } from '../parts.ts';

const folder = part('corpus');

/**
 * Nothing here depends on time or luck. A figure that fell means that finding became worse: the requests kept aside are there to say so,
 * and not to be tuned on. `npm run bench:search` has the details.
 */
describe.skipIf(!folder.available)('[FIND-1] on requests that were set aside', () => {
  let tools: readonly Tool[];
  let keptAside: SearchRequest[];
  let before: number;
  const recallAt5 = (ranker: Ranker) => recallOf(placesOf(ranker, keptAside)).at5;

  beforeAll(async () => {
    tools = await corpusTools(folder.available ? folder.url : '');
    keptAside = readRequests(tools).filter((request) => request.keptAside);
    before = recallAt5(createEarlierSearch(tools));
  });

  test('there are enough requests, over enough tools', () => {
    expect(keptAside.length).toBeGreaterThanOrEqual(80);
    expect(tools.length).toBeGreaterThanOrEqual(2400);
  });

  test('words find the right tool among the first five 1.4 times as often as before', () => {
    const toolSearch = createToolSearch();
    const reached = recallAt5((text) => toolSearch.search(text, tools));
    expect(reached).toBeGreaterThan(0.74);
    expect(reached / before).toBeGreaterThanOrEqual(1.4);
  });

  test('words and meaning together do so 1.6 times as often', async () => {
    const toolSearch = createToolSearch({ embedder: await openEmbedder() });
    const reached = recallAt5((text) => toolSearch.search(text, tools));
    expect(reached).toBeGreaterThan(0.76);
    expect(reached / before).toBeGreaterThanOrEqual(1.6);
  });
});
