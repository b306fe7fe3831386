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

/** Any form of registration: a command, a package, a plugin directory, a container, an address. Timeouts are in its `resilience`. */
export type McpServerRegistration = McpRegistrationInput & { name: string };

/** How the server is run. Without `dataDir` its data is in a temporary directory that is removed when it stops. */
export interface LocalOptions extends ToolOptions, Partial<CribConfig> {}

/** An MCP server in the process of the agent. */
export interface LocalMcpServer extends AsyncDisposable {
  /** Resolves when the server is proven ready; rejects with the reason if not. Once stopped, it can be started again. */
  start(): Promise<void>;
  /** The current tools; none while the server is not started. */
  listTools(): ListedTool[];
  /**
   * Calls a tool by its own name or as `namespace:tool`. Resolves with the answer if the call succeeded. [EXEC-6] A refused or failed call
   * rejects with `ValidationError`, `ToolNotFoundError`, `ToolCallError`, or else `ToolcribError`; its `answer` is what the tool answered.
   */
  callTool(name: string, args?: Record<string, unknown>, options?: McpCallOptions): Promise<Answer>;
  /** The tools for LangChain. Always the same array, updated in place while the server runs. */
  tools(): CribTool[];
  /** Calls the listener when the tools have changed; the returned function unsubscribes. */
  onChange(listener: (tools: readonly CribTool[]) => void): () => void;
  /** Resolves when the server has ended completely. */
  stop(): Promise<void>;
}

interface Running extends AsyncDisposable {
  service: McpService;
  id: string;
}

/** [LC-1] A local, container or remote MCP server for one agent, without a Toolcrib server: no policies apply. */
export function addMcpServer(registration: McpServerRegistration, options: LocalOptions = {}): LocalMcpServer {
  const { timeoutMs, onElicitation, ...config } = options;
  const tools: CribTool[] = [];
  const listeners = new Set<(tools: readonly CribTool[]) => void>();
  let starting: { opened: Promise<Running>; stopping: AbortController } | undefined;
  let running: Running | undefined;
  let shown = '';

  const listed = () => (running === undefined ? [] : running.service.availableTools().map(describe));

  /** Called for every change; notifies listeners only if the list has changed. */
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
      // Events arrive in the async context of the server process; LangGraph finds its stream through that of the caller.
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
    // A failed start has cleaned up after itself.
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
  // A data directory that was given may contain the server from an earlier run.
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
