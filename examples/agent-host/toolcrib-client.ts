import { z } from 'zod';

const toolSchema = z.object({ name: z.string(), description: z.string() });
const answerSchema = z.object({ success: z.boolean(), text: z.string(), error: z.object({ message: z.string() }).nullable() });
const refusalSchema = z.object({ code: z.string(), message: z.string() });
const progressSchema = z.object({ progress: z.number(), total: z.number().optional(), message: z.string().optional() });

type Tool = z.infer<typeof toolSchema>;
export type Answer = z.infer<typeof answerSchema>;
export type Progress = z.infer<typeof progressSchema>;

export interface ToolcribClient {
  /** The user's tools; with a query, the matching ones, best first. */
  tools(words?: string): Promise<Tool[]>;
  /** Calls a tool: progress first, then the answer. A refused or failed call is an answer too, which says what to do. */
  call(name: string, args: object): AsyncGenerator<Progress, Answer>;
}

export interface ToolcribClientOptions {
  url: string;
  /** Called before every request, and again when Toolcrib has refused its token. */
  token(refused?: string): Promise<string>;
  /** Ends the running request; Toolcrib then cancels the call. */
  signal: AbortSignal;
}

/** Toolcrib, as one user. */
export function createToolcribClient({ url, token, signal }: ToolcribClientOptions): ToolcribClient {
  async function send(path: string, init: { method: string; headers?: Record<string, string>; body?: string }): Promise<Response> {
    const attempt = (bearer: string) =>
      fetch(new URL(path, url), { ...init, signal, redirect: 'error', headers: { ...init.headers, authorization: `Bearer ${bearer}` } });
    const bearer = await token();
    const response = await attempt(bearer);
    if (response.status !== 401) return response;
    await response.body?.cancel();
    return attempt(await token(bearer));
  }

  return {
    async tools(words) {
      const query = words === undefined ? '' : `?q=${encodeURIComponent(words)}`;
      const response = await send(`/api/bff/tools${query}`, { method: 'GET' });
      if (!response.ok) throw new Error(refusalSchema.parse(await response.json()).message);
      return z.object({ tools: z.array(toolSchema) }).parse(await response.json()).tools;
    },

    async *call(name, args) {
      const response = await send('/api/bff/tools/call', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ name, arguments: args }),
      });
      // A call that is refused before the tool runs is answered with plain JSON.
      if (!response.ok || response.body === null) return refused(await response.json());
      for await (const { event, data } of readEvents(response.body)) {
        if (event === 'progress') yield progressSchema.parse(data);
        if (event === 'result') return answerSchema.parse(data);
        if (event === 'error') return refused(data);
      }
      throw new Error('The connection to Toolcrib was lost before the answer came');
    },
  };
}

function refused(body: unknown): Answer {
  const { message } = refusalSchema.parse(body);
  return { success: false, text: '', error: { message } };
}

/** Server-sent events: fields on lines, an empty line after each event. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; data: unknown }> {
  let unread = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    unread += decoder.decode(chunk, { stream: true });
    const events = unread.split('\n\n');
    unread = events.pop() ?? '';
    for (const lines of events) {
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(lines)?.[1];
      yield { event: field('event') ?? 'message', data: JSON.parse(field('data') ?? 'null') };
    }
  }
}
