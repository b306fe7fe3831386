import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../src/model/json.ts';
import type { Tool } from '../../src/model/tool.ts';
import { corpusPath } from '../fixtures/openapi/corpus.ts';
import { judgedCall, registerJudged, seedOf } from '../fixtures/openapi/judged-tools.ts';
import { startRecordingProxy } from '../fixtures/openapi/recording-proxy.ts';
import { seededRandom } from '../fixtures/openapi/seeded-random.ts';
import { startPrism } from '../fixtures/openapi/start-judge.ts';
import { startOpenServer } from '../fixtures/open-server.ts';
import { toolWith } from '../fixtures/samples.ts';
import { part } from '../parts.ts';

const prism = part('prism');
const folder = part('corpus');

interface JudgedDocument {
  name: string;
  file: string;
  credential?: object;
  headers?: object;
  /** Tools that Prism cannot judge, by name. */
  notJudged: Record<string, string>;
}

const documents: JudgedDocument[] = [
  {
    name: 'petstore',
    file: 'swagger-petstore-3.0.4.yaml',
    credential: { type: 'bearer', token: 'nobody-checks-it' },
    headers: { api_key: 'nobody-checks-it' },
    notJudged: {},
  },
  {
    name: 'docker',
    file: 'docker-engine-2.0.yaml',
    notJudged: {
      'docker:SystemEvents': 'it cannot write the answer, which is of application/jsonl',
      'docker:ImageBuild': 'the document contradicts itself: it consumes application/octet-stream, and wants the type application/x-tar',
    },
  },
  { name: 'slack', file: 'slack-web-2.0.json', credential: { type: 'bearer', token: 'nobody-checks-it' }, notJudged: {} },
  {
    name: 'tictactoe',
    file: 'oai-tictactoe-3.1.yaml',
    credential: { type: 'bearer', token: 'nobody-checks-it' },
    notJudged: {},
  },
  {
    name: 'figma',
    file: 'figma-3.1.yaml',
    credential: { type: 'api_key', in: 'header', name: 'X-Figma-Token', value: 'nobody-checks-it' },
    notJudged: {
      'figma:getFile': 'it makes up an answer of recursive schemas for half a minute',
      'figma:getFileNodes': 'it makes up an answer of recursive schemas for half a minute',
    },
  },
];

/** Prism's complaints about a request; it also complains about its own answers, which do not concern us. */
function violationsIn(header: string | string[] | undefined): unknown[] {
  const all = JSON.parse([header ?? '[]'].flat().join('')) as { location: string[] }[];
  return all.filter(({ location }) => location[0] === 'request');
}

/** Prism reads numbers as JavaScript does, and refuses those that it cannot hold. */
function withoutLargeIntegers(tool: Tool): Tool {
  const json = JSON.stringify(tool.definition.input_schema).replaceAll('"type":["integer","string"', '"type":["integer"');
  return toolWith(tool, { definition: { ...tool.definition, input_schema: JSON.parse(json) as JsonSchema } });
}

describe.skipIf(!prism.available || !folder.available).for(documents)('requests of $name checked by Prism', (document) => {
  test('[HTTP-1] [OAS-2] are accepted, and are never sent when the arguments do not fit', async () => {
    if (!prism.available || !folder.available) return;
    const { name, file, credential, headers, notJudged } = document;
    const path = corpusPath(file, folder.url);
    await using judge = await startPrism(prism.url, path);
    await using proxy = await startRecordingProxy(judge.origin);
    await using server = await startOpenServer({ allowedNetworks: ['loopback'] });
    const tools = await registerJudged(server.admin, { name, path, serverUrl: proxy.origin, credential, headers });
    const refused: unknown[] = [];
    let judged = 0;
    for (const tool of tools) {
      const call = tool.name in notJudged ? undefined : judgedCall(withoutLargeIntegers(tool), seededRandom(seedOf(tool)));
      if (call === undefined) continue;
      judged++;
      const { text } = await server.alice.call(tool.name, call.args);
      const [answer, ...more] = proxy.answers.splice(0);
      const violations = violationsIn(answer?.headers['sl-violations']);
      if (answer === undefined || more.length > 0 || answer.status >= 400 || violations.length > 0) {
        refused.push({ tool: tool.name, args: call.args, answer, violations, text: text.slice(0, 500) });
      }
      for (const args of call.corrupted) {
        const { status, json } = await server.alice.call(tool.name, args);
        if (status !== 400 || json.code !== 'VALIDATION_ERROR' || proxy.answers.length > 0) refused.push({ tool: tool.name, args, status });
        proxy.answers.splice(0);
      }
    }
    expect(refused).toEqual([]);
    // All but those for which no arguments could be made.
    expect(judged).toBeGreaterThanOrEqual(Math.floor(tools.length * 0.9) - Object.keys(notJudged).length);
  }, 240_000);
});
