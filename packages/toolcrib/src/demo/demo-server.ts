/**
 * A small MCP server over stdio, for trying Toolcrib without downloading anything. It is self-contained: it uses no code of Toolcrib, and
 * is started, called and stopped like any other server.
 */
import { demoTools, menu } from './pizzeria.ts';
import { openStdioWire, type Message } from './stdio-wire.ts';

const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const menuResource = {
  uri: 'demo://menu',
  name: 'menu',
  title: 'The menu',
  description: 'The pizzas and their prices',
  mimeType: 'text/markdown',
};

const running = new Map<unknown, AbortController>();
const questions = new Map<unknown, (message: Message) => void>();
let asked = 0;
let canAsk = false;

const wire = openStdioWire((message) => {
  const { id, method } = message;
  if (method === undefined) questions.get(id)?.(message);
  else if (id === undefined) receive(method, message.params ?? {});
  else void answer(id, method, message.params ?? {});
});

function receive(method: string, params: Record<string, unknown>): void {
  if (method === 'notifications/cancelled') running.get(params.requestId)?.abort();
}

async function answer(id: string | number, method: string, params: Record<string, unknown>): Promise<void> {
  switch (method) {
    case 'initialize':
      canAsk = (params.capabilities as { elicitation?: object } | undefined)?.elicitation !== undefined;
      return wire.send({ id, result: greeting(String(params.protocolVersion)) });
    case 'ping':
      return wire.send({ id, result: {} });
    case 'tools/list':
      // JSON drops the `call` functions.
      return wire.send({ id, result: { tools: demoTools } });
    case 'tools/call':
      return call(id, params);
    case 'resources/list':
      return wire.send({ id, result: { resources: [menuResource] } });
    case 'resources/templates/list':
      return wire.send({ id, result: { resourceTemplates: [] } });
    case 'resources/read':
      if (params.uri !== menuResource.uri) return wire.send({ id, error: { code: -32002, message: 'There is no such resource' } });
      return wire.send({ id, result: { contents: [{ uri: menuResource.uri, mimeType: menuResource.mimeType, text: menu }] } });
    default:
      return wire.send({ id, error: { code: -32601, message: `There is no method ${method}` } });
  }
}

function greeting(asked: string): object {
  return {
    protocolVersion: revisions.includes(asked) ? asked : revisions[0],
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: 'toolcrib-demo', title: 'Pizzeria', version: '1.0.0' },
    instructions: 'A made-up pizzeria. Nothing here is real, and nobody is hungry afterwards.',
  };
}

async function call(id: string | number, params: Record<string, unknown>): Promise<void> {
  const tool = demoTools.find(({ name }) => name === params.name);
  if (tool === undefined) return wire.send({ id, error: { code: -32602, message: `There is no tool ${String(params.name)}` } });
  const controller = new AbortController();
  running.set(id, controller);
  const progressToken = (params._meta as { progressToken?: unknown } | undefined)?.progressToken;
  try {
    const result = await tool.call({
      args: (params.arguments ?? {}) as Record<string, unknown>,
      signal: controller.signal,
      progress(progress, total, message) {
        if (progressToken !== undefined)
          wire.send({ method: 'notifications/progress', params: { progressToken, progress, total, message } });
      },
      ask,
    });
    wire.send({ id, result });
  } catch (error) {
    // A cancelled call is not answered.
    if (!controller.signal.aborted) wire.send({ id, result: { content: [{ type: 'text', text: String(error) }], isError: true } });
  } finally {
    running.delete(id);
  }
}

async function ask(message: string, properties: object): Promise<Record<string, unknown> | undefined> {
  if (!canAsk) return undefined;
  const id = `question-${++asked}`;
  const requestedSchema = { type: 'object', properties, required: Object.keys(properties) };
  const reply = await new Promise<Message>((resolve) => {
    questions.set(id, resolve);
    wire.send({ id, method: 'elicitation/create', params: { message, requestedSchema } });
  });
  questions.delete(id);
  const { action, content } = (reply.result ?? {}) as { action?: string; content?: Record<string, unknown> };
  return action === 'accept' ? content : undefined;
}
