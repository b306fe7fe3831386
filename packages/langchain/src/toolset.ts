import type { CribTool } from './crib-tool.ts';
import type { HttpClient } from './http-client.ts';
import { readEvents } from './read-events.ts';

/** A user's tools, kept current automatically. */
export interface Toolset extends AsyncDisposable {
  /** Always the same array, updated in place: a `ToolNode` that holds it sees new tools. */
  readonly tools: CribTool[];
  /** Calls the listener when the tools have changed; the returned function unsubscribes. */
  onChange(listener: (tools: readonly CribTool[]) => void): () => void;
  /** Stops following changes. The tools stay as they are. */
  close(): Promise<void>;
}

export interface ToolsetInput {
  client: HttpClient;
  /** The current tools; undefined if they have not changed since the last read. */
  read(signal: AbortSignal): Promise<CribTool[] | undefined>;
  /** Whether the selection can change without a change event, so that it must be read again from time to time. */
  asks: boolean;
  /** Called with the reason when changes cannot be followed at the moment. The toolset keeps retrying. */
  onError?(error: unknown): void;
}

const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** Toolcrib sends a heartbeat every 30 seconds. */
const longestSilenceMs = 90_000;

/** [BFF-4] Reads the tools once, and again whenever Toolcrib reports a change. */
export async function openToolset({ client, read, asks, onError }: ToolsetInput): Promise<Toolset> {
  const tools: CribTool[] = [];
  const listeners = new Set<(tools: readonly CribTool[]) => void>();
  const closing = new AbortController();

  async function refresh(): Promise<void> {
    const current = await read(closing.signal);
    if (current === undefined) return;
    tools.splice(0, tools.length, ...current);
    for (const listener of listeners) listener(tools);
  }

  /** Reads the stream until it ends. Keeps the last event id in `place`, so that the next stream resumes there. */
  async function follow(place: { lastEventId?: string }, heard: () => void): Promise<void> {
    const silent = new AbortController();
    const wait = () => setTimeout(() => silent.abort(new Error('the event stream sent nothing for too long')), longestSilenceMs);
    let watch = wait();
    try {
      const { body } = await client.send('GET', '/api/bff/sse', {
        headers: { accept: 'text/event-stream', ...(place.lastEventId === undefined ? {} : { 'last-event-id': place.lastEventId }) },
        signal: AbortSignal.any([closing.signal, silent.signal]),
      });
      for await (const { event, id } of body === null ? [] : readEvents(body)) {
        clearTimeout(watch);
        watch = wait();
        heard();
        if (event === 'tool_list' || (asks && event === 'heartbeat')) await refresh();
        // Set after the refresh: if that fails, the event must be sent again.
        if (id !== undefined) place.lastEventId = id;
      }
    } finally {
      clearTimeout(watch);
    }
  }

  async function keepFollowing(): Promise<void> {
    const place = {};
    let pauseMs = firstPauseMs;
    while (!closing.signal.aborted) {
      try {
        await follow(place, () => (pauseMs = firstPauseMs));
      } catch (error) {
        if (!closing.signal.aborted) onError?.(error);
      }
      await pause(pauseMs * (0.5 + Math.random() / 2), closing.signal);
      pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    }
  }

  await refresh();
  const following = keepFollowing();
  async function close(): Promise<void> {
    closing.abort();
    await following;
  }
  return {
    tools,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const leave = () => {
      clearTimeout(timer);
      resolve();
    };
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
  });
}
