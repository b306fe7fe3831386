import type { z } from 'zod';
import type { ImportOptions, ImportOutcome } from './administration/import-sources.ts';
import { splitReadBack } from './administration/split-read-back.ts';
import type { CribConfig } from './crib-config.ts';
import { openCrib, type Crib } from './crib.ts';
import { abortable } from './resilience/abortable.ts';
import type { Answer } from './model/call.ts';
import { CribError } from './model/crib-error.ts';
import type { JsonObject } from './model/json.ts';
import { ToolNotFoundError } from './model/named-errors.ts';
import { ownIssuer, type Principal } from './model/principal.ts';
import type { DefinedSource, SourceRecord, SourceStatus } from './model/source.ts';
import type { Tool } from './model/tool.ts';
import { callFailure } from './execution/call-failure.ts';
import type { CallEvent, RunningCall } from './execution/running-call.ts';
import { activeToolsOf } from './inventory/source-tools.ts';
import { mcpRegistrationSchema, type McpRegistration, type McpRegistrationInput } from './sources/mcp/registration/forms.ts';
import type { McpDefinition } from './sources/mcp/mcp-definition.ts';
import { registrationOf } from './sources/source-registrations.ts';
import { replaced, type ReadBack } from './sources/source-forms.ts';
import { isMcpSource } from './sources/mcp/source-type.ts';
import { isOpenApiSource } from './sources/openapi/source-type.ts';
import { showDefinition, type ShownDefinition } from './sources/mcp/registration/show-definition.ts';
import { isAvailable } from './supervision/availability.ts';

const replacedMcpSchema = replaced(mcpRegistrationSchema) as unknown as z.ZodType<McpRegistration & ReadBack>;

/** [LIFE-1] The status of a server; while it runs, with the names of its tools. */
export type McpStatus = Exclude<SourceStatus, { state: 'running' }> | { state: 'running'; tools: string[] };

/** A server as it was registered, with its secrets as `***`. It can be modified and passed to `update`. */
export type McpServer = Omit<McpRegistrationInput, 'id' | 'name' | 'namespace' | 'enabled' | 'source_type'> &
  Omit<DefinedSource<McpDefinition>, 'definition' | 'registration'> & { definition: ShownDefinition };

/** A complete registration that replaces the current one, or only `enabled`, which leaves everything else unchanged. */
export type McpUpdate = { id: string; enabled: boolean } | ({ id: string } & McpRegistrationInput) | McpServer;

/** The outcome of importing one entry; `id` is the id of the server, or null if the entry was refused. */
export interface McpImported extends Pick<ImportOutcome, 'entry' | 'outcome' | 'notes' | 'error'> {
  id: string | null;
}

/** An event during a call. */
export type McpCallEvent = Exclude<CallEvent, { type: 'elicitation' }> & { call_id: string };

export interface McpCallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  onEvent?(event: McpCallEvent): void;
  /** [MCP-13] Answers the tool's questions during the call, in MCP's format. Without it every question is declined. */
  onElicitation?(request: JsonObject): Promise<JsonObject>;
}

/**
 * [LIFE-6] MCP servers in the process of the application that uses them. The application may do everything: no policies apply. Methods
 * called with an unknown server id fail with `NOT_FOUND`.
 */
export interface McpService extends AsyncDisposable {
  list(): McpServer[];
  get(id: string): McpServer | undefined;
  status(id: string): McpStatus;
  /** Resolves when the server is proven ready; rejects with the reason if not, with `CONFLICT` if it is disabled. */
  start(id: string): Promise<void>;
  /** Resolves when the server has ended completely. */
  stop(id: string): Promise<void>;
  restart(id: string): Promise<void>;
  /** The tools of all servers that run or are being started, sorted by name. */
  availableTools(): Tool[];
  /** Calls the listener whenever `availableTools` may have changed; the returned function unsubscribes. */
  onToolsChanged(listener: () => void): () => void;
  /**
   * The id of the server that provides a tool, given by canonical name or tool id, else by the tool's own name. If several servers have a
   * tool of that name, the first namespace in alphabetical order wins.
   */
  findToolProvider(toolName: string): string | undefined;
  /**
   * Calls a tool by its own name or its canonical one. A server that is stopped or has failed is started first. Resolves with the answer if
   * the call succeeded. [EXEC-6] A failed call rejects: with `ValidationError`, `ToolNotFoundError` or `ToolCallError` if the server or the
   * tool reported it, with a `TransportError` if there was no response, and with the reason of `signal` if that aborted the call. The error
   * has the whole answer in `answer`, and the structured content of the tool in `cause`.
   */
  callTool(id: string, toolName: string, args: JsonObject, options?: McpCallOptions): Promise<Answer>;
  /** Saves the server, and starts it in the background unless it is disabled. */
  create(config: McpRegistrationInput): Promise<McpServer>;
  /**
   * [SRC-4] Registers the servers in a UTCP call template or manual, or in the `mcpServers` of a desktop client, given as text or as parsed
   * JSON. A refused entry does not stop the rest. The HTTP tools of a manual are listed and called like those of a server.
   */
  import(config: unknown, options?: ImportOptions): Promise<McpImported[]>;
  /** [LIFE-7] If the update enables a server that cannot be started, the server is disabled again and the reason thrown. */
  update(config: McpUpdate): Promise<McpServer>;
  delete(id: string): Promise<void>;
  /** Stops all servers; each can be started again. */
  shutdownAll(): Promise<void>;
}

/** The application as the record of calls and changes names it. */
const application: Principal = {
  issuer: ownIssuer,
  subject: 'mcp-service',
  name: null,
  key: `${ownIssuer} mcp-service`,
  client: null,
  claims: {},
  expiresAt: Number.POSITIVE_INFINITY,
  token: null,
};

const usual = {
  limits: { principal: {}, defaultTimeoutMs: 30_000, maxTimeoutMs: 3_600_000 },
  // The largest possible value: answers to an application in the same process need not be cut.
  responseBytes: 33_554_432,
  artifacts: { bytesPerPrincipal: 0, days: 1 },
  retentionDays: 90,
  warn: (message: string) => console.warn(message),
} satisfies Partial<CribConfig>;

/** Opens a crib without interfaces for an application. Disposing of the service stops all servers and closes the crib. */
export async function openMcpService(config: Partial<CribConfig> & Pick<CribConfig, 'dataDir'>): Promise<McpService> {
  const crib = await openCrib({ ...usual, ...config });
  return { ...createMcpService(crib), [Symbol.asyncDispose]: () => crib.close({ drainMs: 0 }) };
}

function createMcpService(crib: Crib): Omit<McpService, keyof AsyncDisposable> {
  const { inventory, supervisor, executor, sources } = crib;

  const servers = () => [...inventory.sources.values()].filter(isMcpSource);
  const find = (id: string) => servers().find((server) => server.id === id);
  /** Includes sources whose tools are called over HTTP, as described by a UTCP manual. */
  const callable = () => [...inventory.sources.values()].filter((source) => isMcpSource(source) || isOpenApiSource(source));

  function existing(id: string): SourceRecord {
    const server = callable().find((source) => source.id === id);
    if (server === undefined) throw new CribError('NOT_FOUND', 'There is no such MCP server');
    return server;
  }

  const statusOf = (id: string): SourceStatus => supervisor.statusOf(id) ?? { state: 'stopped' };
  const activeTools = (id: string) => activeToolsOf(inventory.snapshot, id);
  const availableTools = () => callable().flatMap(({ id }) => (isAvailable(statusOf(id)) ? activeTools(id) : []));

  async function toggle(id: string, enabled: boolean): Promise<McpServer> {
    return shown(await sources.setEnabled(application, id, enabled));
  }

  async function replace(id: string, form: McpRegistration, seen: number | undefined): Promise<McpServer> {
    const wasEnabled = existing(id).enabled;
    const saved = await sources.replace(application, id, form, { seen });
    if (wasEnabled || !saved.enabled) return shown(saved);
    try {
      await supervisor.start(id);
      return shown(saved);
    } catch (error) {
      await sources.setEnabled(application, id, false);
      throw error;
    }
  }

  return {
    list: () => servers().map(shown),
    get(id) {
      const server = find(id);
      return server && shown(server);
    },
    status(id) {
      const status = statusOf(existing(id).id);
      if (status.state !== 'running') return status;
      return { state: 'running', tools: activeTools(id).map(({ definition }) => definition.name) };
    },
    start: async (id) => supervisor.start(existing(id).id),
    stop: async (id) => supervisor.stop(existing(id).id),
    restart: async (id) => supervisor.restart(existing(id).id),
    availableTools: () => availableTools().sort(byName),
    onToolsChanged: (listener) => inventory.onChange(listener),
    findToolProvider(toolName) {
      const available = availableTools();
      const exact = inventory.find(toolName);
      if (exact !== undefined && available.includes(exact)) return exact.source_id;
      const [first] = available.filter(({ definition }) => definition.name === toolName).sort(byNamespace);
      return first?.source_id;
    },
    async callTool(id, toolName, args, { signal = new AbortController().signal, timeoutMs, ...handlers } = {}) {
      existing(id);
      signal.throwIfAborted();
      // [MCP-5] The first call starts the server; concurrent calls share that start.
      if (!isAvailable(statusOf(id))) await abortable(supervisor.start(id), signal);
      const tool = activeTools(id).find(({ name, definition }) => definition.name === toolName || name === toolName);
      if (tool === undefined) throw new ToolNotFoundError('This MCP server has no such tool');
      const request = { arguments: args, ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }) };
      const admitted = await executor.admitTrusted(application, tool, request);
      if (handlers.onEvent !== undefined || handlers.onElicitation !== undefined) passOn(admitted.call, handlers);
      const cancel = () => admitted.call.end('cancelled');
      if (signal.aborted) cancel();
      signal.addEventListener('abort', cancel, { once: true });
      try {
        const answer = await executor.run(admitted);
        if (answer.error === null) return answer;
        if (answer.status === 'cancelled') signal.throwIfAborted();
        throw callFailure(answer, answer.error, admitted.call.failure);
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
    create: async (config) => shown(await sources.register(application, parsed(mcpRegistrationSchema, config))),
    async import(config, options) {
      const outcomes = await crib.importSources(application, config, options);
      return outcomes.map(({ entry, outcome, source, notes, error }) => ({ entry, outcome, id: source?.id ?? null, notes, error }));
    },
    async update({ id, ...config }) {
      const current = existing(id);
      const [field, ...others] = Object.keys(config);
      if (field === 'enabled' && others.length === 0 && typeof config.enabled === 'boolean') return toggle(id, config.enabled);
      const { form, seen } = splitReadBack(parsed(replacedMcpSchema, config), current);
      return replace(id, form, seen);
    },
    delete: async (id) => sources.delete(application, existing(id).id),
    async shutdownAll() {
      await Promise.allSettled(callable().flatMap(({ id, enabled }) => (enabled ? [supervisor.stop(id)] : [])));
    },
  };
}

function passOn(call: RunningCall, { onEvent, onElicitation }: Pick<McpCallOptions, 'onEvent' | 'onElicitation'>): void {
  async function ask(request: JsonObject): Promise<JsonObject> {
    try {
      return (await onElicitation?.(request)) ?? { action: 'decline' };
    } catch {
      // A handler that fails counts as a cancelled question.
      return { action: 'cancel' };
    }
  }
  call.onEvent = (event) => {
    if (event.type === 'elicitation') void ask(event.request).then((answer) => call.answer(event.elicitation_id, answer));
    else tell(() => onEvent?.({ call_id: call.callId, ...event }));
  };
}

/** A listener that throws must not break the session, which all calls of the server share. */
function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    process.emitWarning(`A listener for events of a call failed: ${String(error)}`);
  }
}

function shown(record: SourceRecord): McpServer {
  if (!isMcpSource(record)) throw new CribError('INTERNAL', 'This source is not an MCP server');
  const { definition, registration: _stored, ...source } = record;
  return { ...registrationOf(record), ...source, definition: showDefinition(definition) };
}

function parsed<Form>(schema: z.ZodType<Form>, config: unknown): Form {
  const { success, data, error } = schema.safeParse(config);
  if (success) return data;
  const [issue] = error.issues;
  const field = issue?.path.join('.') ?? '';
  throw new CribError('VALIDATION_ERROR', `${field}: ${issue?.message ?? 'does not fit'}`, { field, cause: error });
}

function byName(a: Tool, b: Tool): number {
  return a.name < b.name ? -1 : 1;
}

function byNamespace(a: Tool, b: Tool): number {
  return a.namespace < b.namespace ? -1 : 1;
}
