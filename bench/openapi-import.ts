/** `npm run bench:openapi-import -- <directory or file>…`: the cost of importing OpenAPI documents. */
import { readFileSync, statSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { createIsolation } from '../packages/toolcrib/src/isolation/isolation.ts';
import { importDocument } from '../packages/toolcrib/src/sources/openapi/import-document.ts';
import { median } from './quantile.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { rounds: { type: 'string', default: '3' } } });
const rounds = Number(values.rounds);

const files = positionals.flatMap((place) => {
  if (statSync(place).isFile()) return [place];
  const names = readdirSync(place).filter((name) => /\.(json|ya?ml)$/.test(name));
  return names.map((name) => join(place, name));
});
if (files.length === 0) throw new Error('Name a directory with OpenAPI documents, or the documents themselves');

const isolation = createIsolation();
const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024);

/** The peak memory of this process, as of the gateway, while another one reads the document. */
async function measure(file: string) {
  const text = readFileSync(file, 'utf8');
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
  const began = performance.now();
  const { report } = await importDocument({
    text,
    url: pathToFileURL(file),
    serverUrl: 'https://bench.example',
    serverVariables: {},
    externalRefs: [],
    load: async () => Promise.reject(new Error('Nothing else is read here')),
    asyncPoll: {},
    isolation,
    turn: { caller: 'bench', signal: AbortSignal.timeout(120_000) },
  });
  const took = performance.now() - began;
  clearInterval(watch);
  return { took, grown: Math.max(most, process.memoryUsage.rss()) - before, report };
}

console.log('| document | MB | operations | tools | tokens | ms | memory grown by MB |\n|---|---:|---:|---:|---:|---:|---:|');
for (const file of files) {
  const runs = [];
  for (let round = 0; round < rounds; round++) runs.push(await measure(file));
  const [{ report } = { report: null }] = runs;
  if (report === null) continue;
  const ms = Math.round(median(runs.map(({ took }) => took)));
  const grown = megabytes(Math.max(...runs.map(({ grown }) => grown)));
  const size = (report.bytes / 1024 / 1024).toFixed(2);
  console.log(`| ${basename(file)} | ${size} | ${report.operations} | ${report.tools} | ${report.tokens} | ${ms} | ${grown} |`);
}
