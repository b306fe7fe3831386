import { AsyncResource } from 'node:async_hooks';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CribError,
  openMcpService,
  type Answer,
  type CribConfig,
  type McpCallOptions,
  type McpRegistrationInput,
  type McpService,
  type Tool,
} from 'toolcrib';
import type { ListedTool } from 'toolcrib/api';
import { CribTool } from './crib-tool.ts';
import { failureOf } from './explain-failure.ts';
import type { ToolCall, ToolOptions } from './tool-call.ts';
import { toolcribError, ToolcribError } from './toolcrib-error.ts';

/** Any form of registration: a command, a package, a plugin directory, a container, an address. Its `resilience` has the timeouts. */
export type McpServerRegistration = McpRegistrationInput & { name: string };

/** How it is run. Without `dataDir` it lives in a temporary directory that is removed when it stops. */
export interface LocalOptions extends ToolOptions, Partial<CribConfig> {}

/** An MCP server in the process of the agent. */
export interface LocalMcpServer extends AsyncDisposable {
  /** Resolves when it is proven ready; rejects with why it is not. Once stopped, it can be started again. */
  start(): Promise<void>;
  /** Its tools as they are now; none while it is not started. */
  listTools(): ListedTool[];
  /**
   * By the tool's own name, or `namespace:tool`. Resolves with the answer of a call that succeeded. [EXEC-6] One that was refused or failed is
   * thrown as `ValidationError`, `ToolNotFoundError`, `ToolCallError`, or else as `ToolcribError`; what the tool answered is its `answer`.
   */
  callTool(name: string, args?: Record<string, unknown>, options?: McpCallOptions): Promise<Answer>;
  /** Its tools for LangChain. Always the same array, kept current while it runs. */
  tools(): CribTool[];
  /** Tells when the tools have changed; the returned function ends it. */
  onChange(listener: (tools: readonly CribTool[]) => void): () => void;
  /** Resolves when nothing of it is left. */
  stop(): Promise<void>;
}

interface Running extends AsyncDisposable {
  service: McpService;
  id: string;
}

/** [LC-1] A local, container or remote MCP server for one agent, without a Toolcrib that listens anywhere: no policy is asked. */
export function addMcpServer(registration: McpServerRegistration, options: LocalOptions = {}): LocalMcpServer {
  const { timeoutMs, onElicitation, ...config } = options;
  const tools: CribTool[] = [];
  const listeners = new Set<(tools: readonly CribTool[]) => void>();
  let starting: { opened: Promise<Running>; stopping: AbortController } | undefined;
  let running: Running | undefined;
  let shown = '';

  const listed = () => (running === undefined ? [] : running.service.availableTools().map(describe));

  /** Told of every change there is, and passes on only what concerns its list. */
  function refresh(): void {
    const current = listed();
    const seen = JSON.stringify(current);
    if (seen === shown) return;
    shown = seen;
    tools.splice(0, tools.length, ...current.map((tool) => new CribTool(tool, callFromModel, { timeoutMs, onElicitation })));
    for (const listener of listeners) listener(tools);
  }

  async function callTool(name: string, args: Record<string, unknown> = {}, calling: McpCallOptions = {}): Promise<Answer> {
    if (running === undefined) throw new ToolcribError('CONFLICT', `The MCP server ${registration.name} is not started.`);
    try {
      return await running.service.callTool(running.id, name, args as never, calling);
    } catch (error) {
      if (!(error instanceof CribError)) throw error;
      if (error.answer !== undefined) throw failureOf(error.answer);
      const { code, message, origin, retryable, retryAfterMs } = error;
      throw toolcribError(code, message, { origin, retryable, retryAfterMs, cause: error });
    }
  }

  const callFromModel: ToolCall = (tool, args, { onEvent, onElicitation: ask, ...calling }) =>
    callTool(tool.name, args as Record<string, unknown>, {
      ...calling,
      // They come from the process of the server, and LangGraph finds the place in its stream by who called.
      onEvent: onEvent && AsyncResource.bind(onEvent),
      onElicitation: ask && ((question) => ask(question) as Promise<never>),
    });

  function begin() {
    const stopping = new AbortController();
    return { opened: open(registration, config, stopping.signal), stopping };
  }

  async function stop(): Promise<void> {
    const begun = starting;
    starting = undefined;
    running = undefined;
    begun?.stopping.abort(new ToolcribError('CONFLICT', `The MCP server ${registration.name} was stopped before it was ready.`));
    // Where the start has failed, nothing is left of it.
    const opened = await begun?.opened.catch(() => undefined);
    await opened?.[Symbol.asyncDispose]();
    refresh();
  }

  return {
    async start() {
      const begun = (starting ??= begin());
      try {
        const opened = await begun.opened;
        begun.stopping.signal.throwIfAborted();
        if (running === opened) return;
        running = opened;
        opened.service.onToolsChanged(refresh);
        refresh();
      } catch (error) {
        if (starting === begun) starting = undefined;
        throw error;
      }
    },
    listTools: listed,
    callTool,
    tools: () => tools,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function open(registration: McpServerRegistration, config: Partial<CribConfig>, signal: AbortSignal): Promise<Running> {
  await using opened = new AsyncDisposableStack();
  const dataDir = config.dataDir ?? opened.adopt(await mkdtemp(join(tmpdir(), 'toolcrib-')), remove);
  const service = opened.use(await openMcpService({ ...config, dataDir }));
  // In a directory of its own choice it may be there from the last time.
  const known = service.list().find(({ name }) => name === registration.name);
  const { id } = known === undefined ? await service.create(registration) : await service.update({ ...registration, id: known.id });
  await unlessAborted(service.start(id), signal);
  const resources = opened.move();
  return { service, id, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

function unlessAborted(started: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    if (signal.aborted) reject(signal.reason as Error);
    started.then(resolve, reject);
  });
}

async function remove(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
}

function describe(tool: Tool): ListedTool {
  const { tool_id, name, model_name, title, description, definition, source_id, source_name, tags, version, execution_mode } = tool;
  const { input_schema, output_schema = null, annotations = {} } = definition;
  const named = { tool_id, name, model_name, title, description, source_id, source_name, version, execution_mode };
  return { ...named, input_schema, output_schema, annotations, tags: [...tags] };
}
