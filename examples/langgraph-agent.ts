/**
 * A LangGraph agent with tools of two kinds: those of an MCP server that the agent itself runs in a container, and a user's tools from a
 * running Toolcrib: `npx node --conditions=toolcrib-source examples/langgraph-agent.ts`
 * In your own project, import from '@toolcrib/langchain', and use a real model. The model here follows a script, so that its input can be
 * checked.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { addMcpServer, type McpServerRegistration } from '../packages/langchain/src/add-mcp-server.ts';
import { createToolcrib, type ToolEvent } from '../packages/langchain/src/index.ts';
import { ScriptedModel } from '../packages/langchain/test/scripted-model.ts';
import { startServer } from '../packages/toolcrib/src/index.ts';

/** Runs in an image that has the server, else as a local process. `.ci/docker-up.sh up` builds the image and prints its name. */
function everythingServer(): McpServerRegistration {
  const program = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js';
  const image = process.env.TOOLCRIB_TEST_DOCKER_IMAGE;
  if (image !== undefined && image !== '')
    return { name: 'Everything', mcp_container: { image, command: ['node', `/app/${program}`, 'stdio'] } };
  assert.notEqual(process.env.TOOLCRIB_REQUIRE_PARTS, '1', 'TOOLCRIB_TEST_DOCKER_IMAGE is not set');
  console.log('TOOLCRIB_TEST_DOCKER_IMAGE is not set: the server runs without a container.');
  return { name: 'Everything', mcp_command: [process.execPath, fileURLToPath(new URL(`../${program}`, import.meta.url)), 'stdio'] };
}

const dataDir = await mkdtemp(join(tmpdir(), 'toolcrib-example-'));
const company = await startServer({ dataDir, port: 0, demo: true, drainMs: 0, logLevel: 'silent' });
try {
  // The user's tools. Your agent has the token of the user it works for.
  const crib = createToolcrib({ url: company.url, token: async () => (await company.mint?.('alice')) ?? '' });
  await using toolset = await crib.toolset();
  // The demo server has just been started.
  await new Promise<void>((resolve) => {
    const look = () => toolset.tools.some(({ name }) => name === 'demo_price_order') && resolve();
    toolset.onChange(look);
    look();
  });

  // The agent's own server. Nothing of it is left when the agent has ended.
  await using everything = addMcpServer(everythingServer(), { timeoutMs: 30_000 });
  await everything.start();

  const model = new ScriptedModel(
    (_, names) => {
      assert.ok(names.includes('everything_get-sum') && names.includes('demo_price_order'), names.join(' '));
      return [
        { id: 'sum', name: 'everything_get-sum', args: { a: 2, b: 40 } },
        { id: 'price', name: 'demo_price_order', args: { items: [{ pizza: 'diavola', count: 2 }] } },
        { id: 'wrong', name: 'demo_price_order', args: { items: 'diavola' } },
      ];
    },
    (messages) => {
      const [sum, price, wrong] = messages.slice(-3);
      assert.match(sum?.text ?? '', /42/);
      assert.match(price?.text ?? '', /^total: 22$/m);
      assert.match(wrong?.text ?? '', /Correct the arguments of demo_price_order and call it again\.$/);
      return [{ id: 'bake', name: 'demo_bake_pizza', args: { pizza: 'diavola', seconds: 1 } }];
    },
    (messages) => {
      assert.match(messages.at(-1)?.text ?? '', /diavola/i);
      return 'Two diavola for 22 EUR, and one is out of the oven.';
    },
  );
  const agent = createReactAgent({ llm: model, tools: [...toolset.tools, ...everything.tools()] });

  const steps: number[] = [];
  let last: BaseMessage | undefined;
  const question = { messages: [new HumanMessage('What do two diavola cost? And bake me one.')] };
  for await (const [mode, chunk] of await agent.stream(question, { streamMode: ['custom', 'values'] })) {
    if (mode === 'values') last = (chunk as { messages: BaseMessage[] }).messages.at(-1);
    else if ((chunk as ToolEvent).type === 'toolcrib_progress') {
      const { tool, progress, total, message } = chunk as ToolEvent & { type: 'toolcrib_progress' };
      steps.push(progress);
      console.log(`${tool}: ${message ?? ''} (${progress} of ${total})`);
    }
  }
  assert.ok(steps.length > 0, 'There was no progress');
  assert.equal(last?.text, 'Two diavola for 22 EUR, and one is out of the oven.');
  console.log(last?.text);
} finally {
  await company.close();
  await rm(dataDir, { recursive: true, force: true });
}
console.log('Done.');
