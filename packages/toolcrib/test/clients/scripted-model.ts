import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { startHttpServer } from '../fixtures/http-server.ts';

/** What a client told the model. */
interface Turn {
  /** The tools that the model could have called, as the client names them. */
  tools: string[];
  /** The whole request. */
  text: string;
}

interface AnthropicRequest {
  model: string;
  tools?: { name: string }[];
}

interface GeminiRequest {
  tools?: { functionDeclarations?: { name: string }[] }[];
}

const farewell = 'The tool has answered.';

/**
 * Stands where the model of a vendor would be, whom nobody here has an account with: it calls one tool, whose name ends in `tool`, and is
 * content with the answer. It speaks as much of the APIs of Anthropic and Google as their own agents need.
 */
export async function startScriptedModel({ tool, args }: { tool: string; args: object }) {
  const turns: Turn[] = [];

  function choose(tools: string[], request: object, answered: string): string | undefined {
    const text = JSON.stringify(request);
    turns.push({ tools, text });
    return text.includes(answered) ? undefined : tools.find((name) => name.endsWith(tool));
  }

  function asAnthropic(request: AnthropicRequest): string[] {
    const { model, tools = [] } = request;
    const names = tools.map(({ name }) => name);
    const name = choose(names, request, '"tool_result"');
    const said = name === undefined;
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage };
    const content_block = said ? { type: 'text', text: '' } : { type: 'tool_use', id: 'toolu_1', name, input: {} };
    const delta = said ? { type: 'text_delta', text: farewell } : { type: 'input_json_delta', partial_json: JSON.stringify(args) };
    const events = [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: said ? 'end_turn' : 'tool_use', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ];
    return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }

  function asGoogle(request: GeminiRequest): string[] {
    const names = (request.tools ?? []).flatMap(({ functionDeclarations: found = [] }) => found.map(({ name }) => name));
    const name = choose(names, request, '"functionResponse"');
    const part = name === undefined ? { text: farewell } : { functionCall: { name, args } };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    const answer = { candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }], usageMetadata };
    return [`data: ${JSON.stringify(answer)}\n\n`];
  }

  function stream(response: ServerResponse, events: string[]): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.join(''));
  }

  const server = await startHttpServer((request, response) => {
    const { url = '' } = request;
    void json(request)
      .then((body) => {
        if (url.startsWith('/v1/messages?')) stream(response, asAnthropic(body as AnthropicRequest));
        else if (url.includes(':streamGenerateContent')) stream(response, asGoogle(body as GeminiRequest));
        else response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      })
      .catch(() => response.destroy());
  });
  return { url: server.origin, turns, farewell, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
