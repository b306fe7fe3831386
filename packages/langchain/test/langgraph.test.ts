import { HumanMessage, type BaseMessage, type ToolMessage } from '@langchain/core/messages';
import { createReactAgent, ToolNode } from '@langchain/langgraph/prebuilt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixture, startOpenServer, type OpenServer } from '../../toolcrib/test/fixtures/open-server.ts';
import { until } from '../../toolcrib/test/running-server.ts';
import { addMcpServer, type LocalMcpServer } from '../src/add-mcp-server.ts';
import type { ToolOptions } from '../src/tool-call.ts';
import { createToolcrib } from '../src/toolcrib.ts';
import { callAsModel, toolNamed } from './called-tool.ts';
import { ScriptedModel } from './scripted-model.ts';

let server: OpenServer;
let local: LocalMcpServer;

const plain = { name: 'One', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' } as const;
const remoteTools = (options: ToolOptions = {}) => createToolcrib({ url: server.url, token: server.alice.token ?? '', ...options }).tools();
const ask = { messages: [new HumanMessage('Go on.')] };
const lastOf = (messages: BaseMessage[]) => messages.at(-1) as ToolMessage;

beforeAll(async () => {
  server = await startOpenServer();
  await server.admin.post('/api/sources?wait=30000', plain);
  await server.admin.post('/api/sources?wait=30000', { name: 'Asking', mcp_command: fixture('plain') });
  local = addMcpServer(plain);
  await local.start();
});
afterAll(async () => {
  await local.stop();
  await server[Symbol.asyncDispose]();
});

describe.each([
  { where: 'of a running Toolcrib', toolsWith: remoteTools },
  { where: 'of a server in the process', toolsWith: async () => local.tools() },
])('[LC-1] a LangGraph agent with tools $where', ({ toolsWith }) => {
  test('calls its tools and reads their errors', async () => {
    const llm = new ScriptedModel(
      (_, names) => {
        expect(names).toContain('one_add');
        return [
          { id: 'a', name: 'one_add', args: { a: 2, b: 40 } },
          { id: 'b', name: 'one_fail', args: { text: 'out of paper' } },
        ];
      },
      (messages) => {
        expect(messages.slice(-2)).toMatchObject([
          { content: 'sum: 42', status: 'success', tool_call_id: 'a', artifact: { structured_content: { sum: 42 } } },
          { content: 'The tool reported: out of paper', status: 'error', tool_call_id: 'b', artifact: { is_error: true } },
        ]);
        return 'It is 42, and there is no paper.';
      },
    );
    const { messages } = await createReactAgent({ llm, tools: await toolsWith() }).invoke(ask);
    expect(messages.at(-1)?.content).toBe('It is 42, and there is no paper.');
  });

  test('streams progress and logs of its tools, in order and before the answer', async () => {
    const llm = new ScriptedModel(
      () => [{ id: 'p', name: 'one_progress', args: { steps: 3 } }],
      () => [{ id: 'l', name: 'one_log', args: { text: 'half way' } }],
      () => 'Done.',
    );
    const seen: unknown[] = [];
    const stream = await createReactAgent({ llm, tools: await toolsWith() }).stream(ask, { streamMode: ['custom', 'updates'] });
    for await (const [mode, chunk] of stream) seen.push(mode === 'custom' ? chunk : Object.keys(chunk)[0]);
    const step = (progress: number) =>
      expect.objectContaining({
        type: 'toolcrib_progress',
        tool: 'one_progress',
        tool_call_id: 'p',
        progress,
        message: `step ${progress}`,
      });
    expect(seen).toEqual([
      'agent',
      ...[1, 2, 3].map(step),
      'tools',
      'agent',
      expect.objectContaining({ type: 'toolcrib_log', tool: 'one_log', tool_call_id: 'l', level: 'info', data: 'half way' }),
      'tools',
      'agent',
    ]);
  });

  test('reports progress to callbacks too', async () => {
    const heard: unknown[] = [];
    const callbacks = [{ handleCustomEvent: (name: string, event: { progress: number }) => void heard.push([name, event.progress]) }];
    const message = await callAsModel(toolNamed(await toolsWith(), 'one_progress'), { steps: 2 }, { callbacks });
    expect(message.content).toBe('done');
    expect(heard).toEqual([
      ['toolcrib_progress', 1],
      ['toolcrib_progress', 2],
    ]);
  });

  test('declines the questions of a tool, with and without streaming', async () => {
    const elicit = toolNamed(await toolsWith(), 'one_elicit');
    for (const callbacks of [undefined, [{ handleCustomEvent: () => undefined }]])
      expect((await callAsModel(elicit, {}, { callbacks })).content).toBe('{"action":"decline"}');
  });

  test('ends the upstream call when it is stopped in the middle of one', async () => {
    const tools = await toolsWith();
    const abort = new AbortController();
    const llm = new ScriptedModel(() => [{ id: 'h', name: 'one_hold', args: { key: 'stopped' } }]);
    const run = createReactAgent({ llm, tools }).invoke(ask, { signal: abort.signal });
    const upstream = async (name: string) => JSON.parse((await callAsModel(toolNamed(tools, name))).text) as unknown[];
    await until(async () => (await upstream('one_held')).includes('stopped'));
    const before = (await upstream('one_cancelled')).length;
    abort.abort();
    await expect(run).rejects.toThrow(/abort/i);
    await until(async () => (await upstream('one_cancelled')).length > before);
  });
});

describe('[LC-1] [MCP-13] a question that a tool asks', () => {
  const onElicitation: ToolOptions['onElicitation'] = async ({ message }, { name }) => ({
    action: 'accept',
    content: { sure: message === 'Really?' && name.endsWith(':elicit') },
  });
  const accepted = '{"action":"accept","content":{"sure":true}}';

  test('is answered by the onElicitation handler when the tools come from a server', async () => {
    const elicit = toolNamed(await remoteTools({ onElicitation }), 'asking_elicit');
    expect((await callAsModel(elicit, { message: 'Really?' })).content).toBe(accepted);
    const failing = await remoteTools({ onElicitation: () => Promise.reject(new Error('the user has gone')) });
    expect((await callAsModel(toolNamed(failing, 'asking_elicit'))).content).toBe('{"action":"cancel"}');
  });

  test('is answered by the onElicitation handler when the server runs in the process', async () => {
    await using asked = addMcpServer(plain, { onElicitation });
    await asked.start();
    expect((await callAsModel(toolNamed(asked.tools(), 'one_elicit'), { message: 'Really?' })).content).toBe(accepted);
  });
});

test('[LC-1] an agent sees added and removed tools in its next step', async () => {
  await using toolset = await createToolcrib({ url: server.url, token: server.alice.token ?? '' }).toolset();
  const grown = new Promise<void>((resolve) => toolset.onChange((tools) => tools.some(({ name }) => name === 'one_leek') && resolve()));
  const model = new ScriptedModel(
    (_, names) => {
      expect(names).not.toContain('one_leek');
      return [{ id: 'g', name: 'one_grow', args: { name: 'leek' } }];
    },
    (_, names) => {
      expect(names).toContain('one_leek');
      return [{ id: 'n', name: 'one_leek', args: {} }];
    },
    (messages) => {
      expect(lastOf(messages)).toMatchObject({ content: 'leek ran', status: 'success' });
      return 'Done.';
    },
  );
  let step = 0;
  const agent = createReactAgent({
    async llm() {
      if (step++ === 1) await grown;
      return model.bindTools(toolset.tools);
    },
    tools: new ToolNode(toolset.tools),
  });
  const { messages } = await agent.invoke(ask);
  expect(messages.at(-1)?.content).toBe('Done.');
});
