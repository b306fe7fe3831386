import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import type { Tool } from '../../src/model/tool.ts';
import { corpusPath } from '../fixtures/openapi/corpus.ts';
import { judgedCall, registerJudged, seedOf, type JudgedCall } from '../fixtures/openapi/judged-tools.ts';
import { seededRandom } from '../fixtures/openapi/seeded-random.ts';
import { startOpenApiCore, type Judge } from '../fixtures/openapi/start-judge.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { part } from '../parts.ts';

const openApiCore = part('openapi-core');
const folder = part('corpus');
const here = openApiCore.available && folder.available;

const seed = 20_261_116;
const bearer = { type: 'bearer', token: 'nobody-checks-it' };
const figmaToken = { type: 'api_key', in: 'header', name: 'X-Figma-Token', value: 'nobody-checks-it' };
/** How many operations are taken from each document: of those with a body, and of the others. */
const shares: Record<string, { file: string; bodies: number; others: number; credential?: object; headers?: object }> = {
  github: { file: 'github-api-3.0.json', bodies: 50, others: 50 },
  box: { file: 'box-3.0.json', bodies: 40, others: 30, credential: bearer },
  msgraph: { file: 'msgraph-calendar-3.0.yml', bodies: 30, others: 30, credential: bearer },
  figma: { file: 'figma-3.1.yaml', bodies: 12, others: 23, credential: figmaToken },
  nws: { file: 'nws-weather-3.0.yaml', bodies: 0, others: 20 },
  petstore: { file: 'swagger-petstore-3.0.4.yaml', bodies: 8, others: 7, credential: bearer, headers: { api_key: 'nobody-checks-it' } },
  machines: { file: 'machines-3.0/specification.yml', bodies: 4, others: 4, credential: bearer },
  cluster: { file: 'cluster-3.0.yaml', bodies: 5, others: 3 },
  links: { file: 'oai-link-example-3.0.yaml', bodies: 0, others: 4 },
  tictactoe: { file: 'oai-tictactoe-3.1.yaml', bodies: 1, others: 2, credential: bearer },
};
const nullableChoice =
  'nullable beside oneOf or allOf, which OpenAPI 3.0.3 gives no meaning: we read it as it was meant, openapi-core does not';
const readOnlyNumber = 'the schema of a parameter is readOnly, which concerns properties alone, and openapi-core refuses whatever is sent';
/** Tools that openapi-core reads wrongly, by name; it is not asked about these. */
const notJudged: Record<string, string> = {
  'github:orgs_custom-properties-for-repos-create-or-update-organization-definition': nullableChoice,
  'github:projects_update-item-for-user': nullableChoice,
  'github:code-scanning_get-alert': readOnlyNumber,
  'github:code-scanning_update-alert': readOnlyNumber,
  'github:code-scanning_get-autofix': readOnlyNumber,
  'github:code-scanning_create-autofix': readOnlyNumber,
  'github:code-scanning_commit-autofix': readOnlyNumber,
  'github:code-scanning_list-alert-instances': readOnlyNumber,
  'github:dependabot_get-alert': readOnlyNumber,
  'github:dependabot_update-alert': readOnlyNumber,
  'github:secret-scanning_get-alert': readOnlyNumber,
  'github:secret-scanning_update-alert': readOnlyNumber,
  'github:secret-scanning_list-locations-for-alert': readOnlyNumber,
  'github:projects_list-items-for-org': 'of a query that is a text or a list it reads the first item alone',
  'box:put_folders_id': nullableChoice,
  'box:post_oauth2_revoke': 'a field of a form that is required and not described is lost',
};

/** The service itself cannot tell these apart, let alone a judge: a fragment is never sent. */
const isJudged = ({ name, path }: Tool) => !(name in notJudged) && path?.includes('#') !== true;

interface Verdict {
  ok: boolean;
  errors: string[];
  path: string | null;
  parameters: Record<string, Record<string, unknown>>;
  raw: string;
}

let judge: Judge;
let server: OpenServer;
const calls: JudgedCall[] = [];

beforeAll(async () => {
  if (!here) return;
  const documents = Object.fromEntries(Object.entries(shares).map(([name, { file }]) => [name, corpusPath(file, folder.url)]));
  judge = await startOpenApiCore(openApiCore.url, documents);
  server = await startOpenServer({ allowedNetworks: ['loopback'] });
  for (const [name, { bodies, others, credential, headers }] of Object.entries(shares)) {
    const path = documents[name] ?? '';
    const tools = await registerJudged(server.admin, { name, path, serverUrl: `${judge.origin}/${name}`, credential, headers });
    // The order does not depend on which of them are judged, nor the arguments on those of others: what is left out changes nothing else.
    const known = seededRandom(seed).shuffled(tools).filter(isJudged);
    choose(
      known.filter(({ operation }) => operation?.body !== null),
      bodies,
    );
    choose(
      known.filter(({ operation }) => operation?.body === null),
      others,
    );
  }
}, 240_000);

function choose(candidates: readonly Tool[], count: number): void {
  let wanted = count;
  for (const tool of candidates) {
    if (wanted === 0) return;
    const call = judgedCall(tool, seededRandom(seedOf(tool)));
    if (call === undefined) continue;
    calls.push(call);
    wanted--;
  }
}

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await judge?.[Symbol.asyncDispose]();
});

const seen = async (): Promise<number> => ((await (await fetch(`${judge.origin}/`)).json()) as { requests: number }).requests;

/** A few at a time: the server is busy while the judge reads. */
async function inTurns<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = [...items].reverse();
  const worker = async () => {
    for (let item = rest.pop(); item !== undefined; item = rest.pop()) await work(item);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
}

/** Integers that no number holds are text in arguments and answers, and numbers in requests. */
const withNumbers = (json: string | undefined) => json?.replaceAll(/"(-?[1-9]\d{15,19})"/g, '$1');
const jsonOf = (value: unknown) => withNumbers(JSON.stringify(value));

/** The values that the judge read from the request, which must be the ones that were meant. */
function differences({ operation, args }: JudgedCall, verdict: Verdict): string[] {
  const wrong: string[] = [];
  for (const { argument, name, in: place } of operation.parameters) {
    const [meant, read] = [args[argument], verdict.parameters[place]?.[name]];
    if (meant !== undefined && jsonOf(meant) !== jsonOf(read)) {
      wrong.push(`${place} ${name} was ${JSON.stringify(meant)} and was read as ${JSON.stringify(read)}`);
    }
  }
  if (operation.body?.kind === 'json' && args.body !== undefined) {
    const body = Buffer.from(verdict.raw, 'base64').toString();
    if (withNumbers(body) !== jsonOf(args.body)) wrong.push(`the body was ${JSON.stringify(args.body)} and was read as ${body}`);
  }
  return wrong;
}

describe.skipIf(!here)('requests checked by openapi-core', () => {
  test('cover three hundred operations, a hundred of them with bodies', () => {
    expect(calls.length).toBeGreaterThanOrEqual(300);
    expect(calls.filter(({ args }) => args.body !== undefined).length).toBeGreaterThanOrEqual(100);
    expect(new Set(calls.map(({ tool }) => tool.source_name)).size).toBeGreaterThanOrEqual(6);
    expect(new Set(calls.map(({ tool }) => tool.name)).size).toBe(calls.length);
    expect(Object.keys(notJudged).length).toBeLessThanOrEqual(20);
  });

  test('[HTTP-1] [OAS-2] are accepted and understood as they were meant', async () => {
    const refused: unknown[] = [];
    await inTurns(calls, async (call) => {
      const { status, json, text } = await server.alice.call(call.tool.name, call.args);
      if (call.operation.method === 'HEAD' && status === 200) return;
      const verdict = json?.structured_content as Verdict | null | undefined;
      const errors =
        status !== 200 || verdict === null || verdict === undefined
          ? [`${status} ${text.slice(0, 500)}`]
          : [
              ...verdict.errors,
              ...(verdict.path === call.operation.path ? [] : [`it was taken for ${verdict.path}`]),
              ...(verdict.ok ? differences(call, verdict) : []),
            ];
      if (errors.length > 0) refused.push({ tool: call.tool.name, args: call.args, errors });
    });
    expect(refused).toEqual([]);
  }, 240_000);

  test.each<[what: string, args: JsonObject]>([
    ['a merge patch, being an object', { body: { spec: { replicas: 2 } } }],
    ['a JSON Patch, being a list', { body: [{ op: 'replace', path: '/spec/replicas', value: 2 }] }],
    ['a strategic merge patch', { body: { spec: {} }, content_type: 'application/strategic-merge-patch+json' }],
    ['an apply patch', { body: { kind: 'Workload' }, content_type: 'application/apply-patch+yaml' }],
  ])('[OAS-2] are patches of the right kind: %s', async (_what, args) => {
    const { json } = await server.alice.call('cluster:patchNamespacedWorkload', { namespace: 'n', name: 'w', ...args });
    expect(json?.structured_content).toMatchObject({ ok: true, errors: [] });
  });

  test('[EXEC-3] are never sent when the arguments do not fit', async () => {
    const before = await seen();
    const accepted: { tool: string; args: JsonObject; answer: string }[] = [];
    await inTurns(calls, async ({ tool, corrupted }) => {
      for (const args of corrupted) {
        const { status, json, text } = await server.alice.call(tool.name, args);
        if (status !== 400 || json?.code !== 'VALIDATION_ERROR') accepted.push({ tool: tool.name, args, answer: text.slice(0, 300) });
      }
    });
    expect(accepted).toEqual([]);
    expect(calls.every(({ corrupted }) => corrupted.length > 0)).toBe(true);
    expect(await seen()).toBe(before);
  }, 240_000);
});
