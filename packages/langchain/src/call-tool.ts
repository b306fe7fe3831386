import type { Answer } from 'toolcrib';
import { refusalIn, unreachable, type HttpClient } from './http-client.ts';
import { readEvents, type ServerEvent } from './read-events.ts';
import type { CallEvent, CallOptions, ElicitationAnswer, Question } from './tool-call.ts';
import { ToolcribError } from './toolcrib-error.ts';

/**
 * [BFF-2] Makes one call, streamed only if there is a handler for events or questions: without a stream Toolcrib itself declines questions,
 * which saves a round trip. Aborting closes the connection, which cancels the call.
 */
export async function callTool(client: HttpClient, toolId: string, args: unknown, options: CallOptions): Promise<Answer> {
  const { signal, timeoutMs, onEvent, onElicitation } = options;
  const streamed = onEvent !== undefined || onElicitation !== undefined;
  const response = await client.send('POST', '/api/bff/tools/call', {
    body: { tool_id: toolId, arguments: args, timeout_ms: timeoutMs },
    headers: { accept: streamed ? 'text/event-stream' : 'application/json' },
    signal,
  });
  if (!streamed || response.body === null) return (await client.read(response)) as Answer;
  try {
    for await (const event of readEvents(response.body)) {
      const answer = takeEvent(client, event, options);
      if (answer !== undefined) return answer;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof ToolcribError ? error : unreachable(client.url, error);
  }
  throw unreachable(client.url, new Error('the stream ended without a result'));
}

function takeEvent(client: HttpClient, { event, data }: ServerEvent, options: CallOptions): Answer | undefined {
  switch (event) {
    case 'result':
      return JSON.parse(data) as Answer;
    case 'error':
      throw refusalIn(data) ?? new Error(data);
    case 'elicitation':
      void answerQuestion(client, JSON.parse(data) as AskedQuestion, options);
      return undefined;
    case 'progress':
    case 'log':
      options.onEvent?.({ type: event, ...(JSON.parse(data) as object) } as CallEvent);
      return undefined;
    default:
      // An event type of a newer Toolcrib.
      return undefined;
  }
}

interface AskedQuestion {
  call_id: string;
  elicitation_id: string;
  request: Question;
}

/** [MCP-13] */
async function answerQuestion(client: HttpClient, { call_id, elicitation_id, request }: AskedQuestion, options: CallOptions) {
  const { signal, onElicitation } = options;
  let answer: ElicitationAnswer = { action: 'decline' };
  try {
    if (onElicitation !== undefined) answer = await onElicitation(request);
  } catch {
    // A handler that fails counts as a cancelled question.
    answer = { action: 'cancel' };
  }
  const path = `/api/bff/calls/${encodeURIComponent(call_id)}/elicitations/${encodeURIComponent(elicitation_id)}`;
  // If the call has ended meanwhile, nobody needs the answer.
  await client.send('POST', path, { body: answer, signal }).catch(() => undefined);
}
