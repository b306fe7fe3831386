/** `npm run bench:search`: how often the right tool is among the first results, for several kinds of search. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbedder } from '../packages/embeddings/src/index.ts';
import { createToolSearch } from '../packages/toolcrib/src/inventory/search/tool-search.ts';
import { median } from './quantile.ts';
import { createEarlierSearch } from './search/baselines/earlier-search.ts';
import { createPlainBm25, createSubstring } from './search/baselines/plain-bm25.ts';
import { corpusTools } from './search/corpus-tools.ts';
import { placesOf, recallOf, type Ranker } from './search/measure-recall.ts';
import { readRequests, requestKinds, type SearchRequest } from './search/requests.ts';
import { machine, writeResults } from './write-results.ts';

const folder = process.env.TOOLCRIB_TEST_CORPUS ?? join(import.meta.dirname, '../../shared/corpus/openapi');
if (!existsSync(folder)) throw new Error(`There is no ${folder}: set TOOLCRIB_TEST_CORPUS to the folder with the corpus`);

const tools = await corpusTools(folder);
const requests = readRequests(tools);
const byWords = createToolSearch();
const embedder = await openEmbedder();
const byMeaning = createToolSearch({ embedder });
const rankers: Record<string, Ranker> = {
  'before: BM25 with weights': createEarlierSearch(tools),
  'plain BM25': createPlainBm25(tools),
  substring: createSubstring(tools),
  Toolcrib: (text) => byWords.search(text, tools),
  'Toolcrib with embeddings': (text) => byMeaning.search(text, tools),
};

/** Runs each request once unmeasured, so that no figure includes indexing or compilation. */
function measure(ranker: Ranker, asked: readonly SearchRequest[]) {
  placesOf(ranker, asked);
  const times: number[] = [];
  const before = process.cpuUsage();
  const places = placesOf((text) => {
    const began = performance.now();
    const found = ranker(text);
    times.push(performance.now() - began);
    return found;
  }, asked);
  const { user, system } = process.cpuUsage(before);
  const ofKind = (kind: string) => {
    const some = places.filter((_, index) => asked[index]?.kind === kind);
    return some.length === 0 ? null : recallOf(some).at5;
  };
  return { ...recallOf(places), kinds: requestKinds.map(ofKind), p50Ms: median(times), cpuMs: (user + system) / 1000 / asked.length };
}

const percent = (share: number) => (share * 100).toFixed(1);
const results: Record<string, object> = {};
for (const keptAside of [true, false]) {
  const asked = requests.filter((request) => request.keptAside === keptAside);
  const part = keptAside ? 'kept aside' : 'tuned on';
  console.log(`\n${asked.length} requests ${part}, ${tools.length} tools; ${machine}\n`);
  console.log(`| ${part} | recall at 1 % | **at 5** % | at 10 % | MRR | ${requestKinds.join(' | ')} | p50 ms | CPU ms |`);
  console.log(`|---|---:|---:|---:|---:|${'---:|'.repeat(requestKinds.length)}---:|---:|`);
  for (const [name, ranker] of Object.entries(rankers)) {
    const { at1, at5, at10, mrr, kinds, p50Ms, cpuMs } = measure(ranker, asked);
    results[`${name}, ${part}`] = { at1, at5, at10, mrr, kinds: Object.fromEntries(requestKinds.map((kind, at) => [kind, kinds[at]])) };
    const cells = [
      percent(at1),
      `**${percent(at5)}**`,
      percent(at10),
      mrr.toFixed(3),
      ...kinds.map((share) => (share === null ? '–' : percent(share))),
      p50Ms.toFixed(2),
      cpuMs.toFixed(2),
    ];
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  }
}
await writeResults('search', { machine, tools: tools.length, requests: requests.length, results });
process.exit();
