import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEverything } from '../conformance/everything/serve-http.ts';
import { startRecordingUpstream, type RecordingUpstream } from '../fixtures/recording-upstream.ts';
import { devClient, startTestServer, type TestServer } from '../running-server.ts';
import { connectToDoor, type Era } from './connect.ts';

const callsEach = 1000;
const people = ['alice', 'bob'] as const;

let server: TestServer;
let upstream: RecordingUpstream;
let everything: Awaited<ReturnType<typeof startEverything>>;
beforeAll(async () => {
  upstream = await startRecordingUpstream();
  everything = await startEverything({ era: 'both' });
  server = await startTestServer({ allowedNetworks: ['loopback'] });
  const admin = await server.as('admin');
  const resilience = { requestTimeoutMs: 170_000 };
  const credential = { type: 'token_exchange', audience: 'pizzeria-api', ...(await devClient(server.url)) };
  const recording = { name: 'Recording', mcp_server_url: upstream.url, credential, discovery_credential: { type: 'none' }, resilience };
  await admin.post('/api/sources?wait=60000', recording);
  await admin.post('/api/sources?wait=60000', { name: 'Everything', mcp_server_url: everything.url });
  await admin.post('/api/groups', { id: 'shared', name: 'Shared', selectors: [{ source: 'recording' }] });
  await admin.post('/api/groups', { id: 'hers', name: 'Hers', selectors: [{ source: 'everything' }] });
  const grant = (id: string, username: string, groups: string[]) =>
    admin.post('/api/policies', { id, name: id, matchers: [{ path: 'preferred_username', operator: 'equals', value: username }], groups });
  await grant('to-alice', 'alice', ['shared', 'hers']);
  await grant('to-bob', 'bob', ['shared']);
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await everything[Symbol.asyncDispose]();
});

const tokenOf = async (username: string) => (await server.running.mint?.(username)) ?? '';

async function enter(era: Era, username: string) {
  const connected = await connectToDoor({ url: `${server.url}/mcp`, era, token: await tokenOf(username) });
  await connected.connect();
  return connected;
}

type Repeated = { body: string; headers: Record<string, string> };

describe.each(['legacy', 'modern'] as const)('alice and bob with %s clients', (era) => {
  test(`[DOOR-4] [ID-3] with ${callsEach} calls each at once, the upstream sees each call's own caller, and no answer is another's`, async () => {
    upstream.requests.splice(0);
    await using first = await enter(era, 'alice');
    await using second = await enter(era, 'bob');
    const clients = { alice: first.client, bob: second.client };
    const calls = Array.from({ length: callsEach }, (_, n) =>
      people.map(async (who) => {
        const answer = await clients[who].callTool({ name: 'recording_repeat', arguments: { who, n } }, { timeout: 170_000 });
        const [block] = answer.content as { text: string }[];
        const { body } = JSON.parse(block?.text ?? '{}') as Repeated;
        return { who, n, got: (JSON.parse(body) as { params: { arguments: unknown } }).params.arguments };
      }),
    );
    const answers = await Promise.all(calls.flat());
    expect(answers.filter(({ who, n, got }) => JSON.stringify(got) !== JSON.stringify({ who, n }))).toEqual([]);

    const subjects = Object.fromEntries(await Promise.all(people.map(async (who) => [who, decodeJwt(await tokenOf(who)).sub])));
    const seen = upstream.calls().map(({ headers, body }) => {
      const { params } = JSON.parse(body) as { params: { arguments: { who: string; n: number } } };
      const { who, n } = params.arguments;
      return { who, n, subject: decodeJwt(headers.authorization?.replace('Bearer ', '') ?? '').sub };
    });
    expect(seen.filter(({ who, subject }) => subject !== subjects[who])).toEqual([]);
    expect(new Set(seen.map(({ who, n }) => `${who} ${n}`)).size).toBe(people.length * callsEach);
  }, 180_000);
});

/** What bob gets for something of alice's, and for something that nobody has. */
async function bothRefusals(method: string, params: (name: string) => object, theirs: string, nobodys: string): Promise<[string, string]> {
  const ask = async (name: string) => {
    const response = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await tokenOf('bob')}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: params(name) }),
    });
    const headers = [...response.headers].filter(([header]) => !['date', 'content-length'].includes(header));
    return `${response.status} ${JSON.stringify(headers)} ${await response.text()}`.replaceAll(name, 'NAME');
  };
  return [await ask(theirs), await ask(nobodys)];
}

test.each([
  ['tools/call', (name: string) => ({ name, arguments: {} }), 'everything_test_simple_text', 'everything_test_simple_rest'],
  ['prompts/get', (name: string) => ({ name }), 'everything_test_simple_prompt', 'everything_test_simple_trompt'],
  ['resources/read', (uri: string) => ({ uri }), 'toolcrib://everything/test://static-text', 'toolcrib://everything/test://static-rest'],
  [
    'completion/complete',
    (name: string) => ({ ref: { type: 'ref/prompt', name }, argument: { name: 'arg1', value: '' } }),
    'everything_test_prompt_with_arguments',
    'everything_test_prompt_with_xrguments',
  ],
] as const)(
  '[DOOR-7] for %s, what others may use and what nobody has look alike, byte for byte',
  async (method, params, theirs, nobodys) => {
    await using connected = await enter('legacy', 'alice');
    const { client } = connected;
    const names = [
      ...(await client.listTools()).tools.map(({ name }) => name),
      ...(await client.listPrompts()).prompts.map(({ name }) => name),
      ...(await client.listResources()).resources.map(({ uri }) => uri),
    ];
    expect(names).toContain(theirs);
    expect(names).not.toContain(nobodys);
    const [hidden, missing] = await bothRefusals(method, params, theirs, nobodys);
    expect(hidden).toBe(missing);
    expect(hidden).toContain('"error"');
  },
);

test('[DOOR-7] an artifact of another person looks like one that is not there', async () => {
  const [theirs, nobodys] = await bothRefusals(
    'resources/read',
    (uri) => ({ uri }),
    'toolcrib://calls/01890000-0000-7000-8000-000000000000/artifacts/1',
    'toolcrib://calls/01890000-0000-7000-8000-000000000001/artifacts/1',
  );
  expect(theirs).toBe(nobodys);
});
