import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEverything } from '../conformance/everything/serve-http.ts';
import { png } from '../conformance/everything/samples.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { fixture } from '../fixtures/open-server.ts';
import { startTestServer, untilSeen, type TestServer } from '../running-server.ts';
import { connectToDoor, type Era } from './connect.ts';

const eras = ['legacy', 'modern'] as const;
const pairs = eras.flatMap((client) => eras.map((source) => ({ client, source })));

let server: TestServer;
let admin: ApiClient;
const everything = {} as Record<Era, Awaited<ReturnType<typeof startEverything>>>;
beforeAll(async () => {
  server = await startTestServer({ allowedNetworks: ['loopback'], responseBytes: 4096, artifactBytes: 20_000_000 });
  admin = await server.as('admin');
  for (const era of eras) {
    everything[era] = await startEverything({ era });
    await admin.post('/api/sources?wait=60000', { name: era, mcp_server_url: everything[era].url });
  }
  await admin.post('/api/sources?wait=60000', { name: 'One', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' });
  await admin.post('/api/groups', { id: 'all', name: 'All', selectors: [{ source: '*' }] });
  await admin.post('/api/policies', everybody(true));
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  for (const era of eras) await everything[era][Symbol.asyncDispose]();
});

const everybody = (enabled: boolean) => ({
  id: 'everybody',
  name: 'Everybody',
  enabled,
  matchers: [{ path: 'sub', operator: 'exists' }],
  groups: ['all'],
});

const able: Record<string, object> = { sampling: {}, roots: {}, elicitation: { form: {} } };

async function enter(era: Era, { username = 'alice', path = '/mcp', capabilities = able } = {}) {
  const token = (await server.running.mint?.(username)) ?? '';
  const connected = await connectToDoor({ url: `${server.url}${path}`, era, token, capabilities });
  return connected;
}

describe.each(pairs)('a client of the $client era with a source of the $source era', ({ client: era, source }) => {
  const call = (name: string, args: object = {}) => ({ name: `${source}_${name}`, arguments: args as Record<string, unknown> });

  test('[DOOR-5] is asked for its model and its roots, and answers', async () => {
    await using connected = await enter(era);
    const { client } = connected;
    client.setRequestHandler('sampling/createMessage', ({ params }) => ({
      role: 'assistant',
      model: 'a-model',
      content: { type: 'text', text: `Said ${JSON.stringify(params.messages[0]?.content)}` },
    }));
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///home/alice/work', name: 'Work' }] }));
    await connected.connect();
    const sampled = await client.callTool(call('test_sampling', { prompt: 'A capital?' }));
    expect(JSON.stringify(sampled.content)).toContain('A capital?');
    const listed = await client.callTool(call('test_input_required_result_list_roots'));
    expect(JSON.stringify(listed.content)).toContain('file:///home/alice/work');
  }, 60_000);

  test('[DOOR-5] is not asked for what it does not offer', async () => {
    await using connected = await enter(era, { capabilities: {} });
    await connected.connect();
    const outcome = await connected.client
      .callTool(call('test_sampling', { prompt: 'x' }))
      .catch((error: Error) => ({ isError: true, error }));
    expect(outcome.isError).toBe(true);
  }, 60_000);

  test('[DOOR-5] gets images and sounds as they are', async () => {
    await using connected = await enter(era);
    await connected.connect();
    const image = await connected.client.callTool(call('test_image_content'));
    expect(image.content).toEqual([{ type: 'image', data: png, mimeType: 'image/png' }]);
    const audio = await connected.client.callTool(call('test_audio_content'));
    expect(audio.content).toMatchObject([{ type: 'audio', mimeType: 'audio/wav' }]);
  });

  test('[DOOR-5] has arguments of prompts and of templates completed', async () => {
    await using connected = await enter(era);
    await connected.connect();
    const { client } = connected;
    const { resourceTemplates } = await client.listResourceTemplates();
    const uri = resourceTemplates.map(({ uriTemplate }) => uriTemplate).find((template) => template.startsWith(`toolcrib://${source}/`));
    expect(uri).toBeDefined();
    const ofTemplate = await client.complete({ ref: { type: 'ref/resource', uri: uri ?? '' }, argument: { name: 'id', value: '' } });
    expect(ofTemplate.completion.values).toEqual(['123', '456']);
    const read = await client.readResource({ uri: (uri ?? '').replace('{id}', '123') });
    expect(JSON.stringify(read.contents)).toContain('123');
    const name = `${source}_test_prompt_with_arguments`;
    const ofPrompt = await client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: 'arg1', value: '' } });
    expect(Array.isArray(ofPrompt.completion.values)).toBe(true);
    expect((await client.getPrompt({ name, arguments: { arg1: 'a', arg2: 'b' } })).messages.length).toBeGreaterThan(0);
  });
});

test.each(eras)('[DOOR-5] [DOOR-7] a resource can be read under its own address too, as answers link to it, in the %s era', async (era) => {
  await using connected = await enter(era);
  await connected.connect();
  const { contents } = await connected.client.readResource({ uri: 'test://static-text' });
  expect(contents).toMatchObject([{ mimeType: 'text/plain' }]);
  await expect(connected.client.readResource({ uri: 'test://nothing-there' })).rejects.toThrow('Resource not found');
});

test.each(eras)('[DOOR-5] the level of a session decides which log messages reach it, with a source of the %s era', async (source) => {
  await using connected = await enter('legacy');
  const { client } = connected;
  const heard: unknown[] = [];
  client.setNotificationHandler('notifications/message', ({ params }) => void heard.push(params.data));
  await connected.connect();
  await client.setLoggingLevel('error');
  await client.callTool({ name: `${source}_test_tool_with_logging`, arguments: {} });
  expect(heard).toEqual([]);
  await client.setLoggingLevel('debug');
  await client.callTool({ name: `${source}_test_tool_with_logging`, arguments: {} });
  expect(heard).toHaveLength(3);
});

test.each(eras)('[DOOR-5] a part too large for its answer is a link that only its owner can read, in the %s era', async (era) => {
  await using connected = await enter(era);
  await connected.connect();
  const { content } = await connected.client.callTool({ name: 'one_huge', arguments: { bytes: 100_000 } });
  const link = (content as { type: string; uri?: string }[]).find(({ type }) => type === 'resource_link');
  const { contents } = await connected.client.readResource({ uri: link?.uri ?? '' });
  expect(contents).toMatchObject([{ text: 'x'.repeat(100_000) }]);
  await using other = await enter(era, { username: 'bob' });
  await other.connect();
  await expect(other.client.readResource({ uri: link?.uri ?? '' })).rejects.toThrow('Resource not found');
});

test.each(eras)(
  '[DOOR-5] a client hears when a policy changes what its caller may use, in the %s era',
  async (era) => {
    await using connected = await enter(era);
    const { client } = connected;
    const heard = new Set<string>();
    for (const list of ['tools', 'prompts', 'resources'] as const)
      client.setNotificationHandler(`notifications/${list}/list_changed`, () => void heard.add(list));
    await connected.connect();
    if (era === 'modern') await client.listen({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true });
    const { id: _id, ...policy } = everybody(false);
    let enabled = true;
    // In the revisions with sessions a client opens its stream when it likes: so the policy changes until all is heard.
    const changing = setInterval(() => void admin.put('/api/policies/everybody', { ...policy, enabled: (enabled = !enabled) }), 500);
    await untilSeen(() => heard.size === 3).finally(() => clearInterval(changing));
    await admin.put('/api/policies/everybody', { ...policy, enabled: true });
    expect([...heard].toSorted()).toEqual(['prompts', 'resources', 'tools']);
    await expect.poll(async () => (await client.listTools()).tools.length, { timeout: 30_000 }).toBeGreaterThan(50);
  },
  60_000,
);

test.each(['/mcp', '/mcp?names=own'])('[DOOR-5] [DOOR-6] names are unique at %s, although two sources have the same', async (path) => {
  await using connected = await enter('legacy', { path });
  await connected.connect();
  const { client } = connected;
  const names = {
    tools: (await client.listTools()).tools.map(({ name }) => name),
    prompts: (await client.listPrompts()).prompts.map(({ name }) => name),
    resources: (await client.listResources()).resources.map(({ uri }) => uri),
    templates: (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
  };
  for (const list of Object.values(names)) {
    expect(list.length).toBeGreaterThan(1);
    expect(new Set(list).size).toBe(list.length);
  }
});
