import type { z } from 'zod';
import type { ImportOptions, ImportOutcome } from './administration/import-sources.ts';
import { splitReadBack } from './administration/split-read-back.ts';
import type { CribConfig } from './crib-config.ts';
import { openCrib, type Crib } from './crib.ts';
import { abortable } from './model/abortable.ts';
import type { Answer } from './model/call.ts';
import { CribError } from './model/crib-error.ts';
import type { JsonObject } from './model/json.ts';
import { ToolNotFoundError } from './model/named-errors.ts';
import { ownIssuer, type Principal } from './model/principal.ts';
import type { McpSource, SourceRecord, SourceStatus } from './model/source.ts';
import type { Tool } from './model/tool.ts';
import { callFailure } from './execution/call-failure.ts';
import type { CallEvent, RunningCall } from './execution/running-call.ts';
import { mcpRegistrationSchema, type McpRegistration, type McpRegistrationInput } from './sources/mcp/registration/forms.ts';
import { registrationOf } from './sources/registration/registration-of.ts';
import { replacedMcpSchema } from './sources/registration/replaced-source-form.ts';
import { showDefinition, type ShownDefinition } from './sources/mcp/registration/show-definition.ts';
import { isAvailable } from './supervision/availability.ts';

/** [LIFE-1] What is seen of a server; while it runs, with the names of its tools. */
export type McpStatus = Exclude<SourceStatus, { state: 'running' }> | { state: 'running'; tools: string[] };

/** A server as it was registered, in the form it was given in, with its secrets as `***`. It can be changed and handed to `update`. */
export type McpServer = Omit<McpRegistrationInput, 'id' | 'name' | 'namespace' | 'enabled' | 'source_type'> &
  Omit<McpSource, 'definition' | 'registration'> & { definition: ShownDefinition };

/** A whole registration in place of the one there is, or `enabled` alone, which leaves everything else as it is. */
export type McpUpdate = { id: string; enabled: boolean } | ({ id: string } & McpRegistrationInput) | McpServer;

/** What became of one entry of what was imported; `id` names the server to all others, and is null where it was refused. */
export interface McpImported extends Pick<ImportOutcome, 'entry' | 'outcome' | 'notes' | 'error'> {
  id: string | null;
}

/** What a call tells while it runs. */
export type McpCallEvent = Exclude<CallEvent, { type: 'elicitation' }> & { call_id: string };

export interface McpCallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  onEvent?(event: McpCallEvent): void;
  /** [MCP-13] Answers what the tool asks in the middle of the call, in MCP's form. Without it every question is declined. */
  onElicitation?(request: JsonObject): Promise<JsonObject>;
}

/**
 * [LIFE-6] MCP servers in the process of the application that uses them. Whoever has it may do everything with it: no policy is asked.
 * Everything that names a server by an id there is none of rejects with `NOT_FOUND`.
 */
export interface McpService extends AsyncDisposable {
  list(): McpServer[];
  get(id: string): McpServer | undefined;
  status(id: string): McpStatus;
  /** Resolves when it is proven ready; rejects with why it is not. One that is disabled is a `CONFLICT`. */
  start(id: string): Promise<void>;
  /** Resolves when nothing of it is left. */
  stop(id: string): Promise<void>;
  restart(id: string): Promise<void>;
  /** The tools of all servers that run or are being started, in the order of their names. */
  availableTools(): Tool[];
  /** Tells whenever `availableTools` may give others than before; the returned function ends it. */
  onToolsChanged(listener: () => void): () => void;
  /**
   * The id of the server that provides a tool: by its canonical name or id where there is one, else by the tool's own name. Of several
   * servers with a tool of that name it is the one whose namespace comes first.
   */
  findToolProvider(toolName: string): string | undefined;
  /**
   * By the tool's own name or its canonical one. A server that is stopped or has failed is started by the call. Resolves with the answer of
   * a call that succeeded. [EXEC-6] One that failed rejects: with `ValidationError`, `ToolNotFoundError` or `ToolCallError` by what the server
   * or the tool says, with a `TransportError` where it could not say anything, and with the reason of `signal` where that ended it. The error
   * has the whole answer in `answer`, and what the tool gave as structured content in `cause`.
   */
  callTool(id: string, toolName: string, args: JsonObject, options?: McpCallOptions): Promise<Answer>;
  /** Saved, and started in the background unless it is disabled. */
  create(config: McpRegistrationInput): Promise<McpServer>;
  /**
   * [SRC-4] Registers what a UTCP call template or manual, or the `mcpServers` of a desktop client, describes: its JSON, or its text. What is
   * refused does not stop the others. The HTTP tools of a manual are listed and called like those of a server.
   */
  import(config: unknown, options?: ImportOptions): Promise<McpImported[]>;
  /** [LIFE-7] One that is enabled by it and cannot be started is disabled again, and the reason is thrown. */
  update(config: McpUpdate): Promise<McpServer>;
  delete(id: string): Promise<void>;
  /** Stops all of them; each can be started again. */
  shutdownAll(): Promise<void>;
}

/** The application itself, for the record. */
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
  // The largest there is: an application in the same process needs no answer cut.
  responseBytes: 33_554_432,
  artifacts: { bytesPerPrincipal: 0, days: 1 },
  retentionDays: 90,
  warn: (message: string) => console.warn(message),
} satisfies Partial<CribConfig>;

/** Opens a crib without doors for an application. Disposing of the service ends every server and closes the crib. */
export async function openMcpService(config: Partial<CribConfig> & Pick<CribConfig, 'dataDir'>): Promise<McpService> {
  const crib = await openCrib({ ...usual, ...config });
  return { ...createMcpService(crib), [Symbol.asyncDispose]: () => crib.close({ drainMs: 0 }) };
}

function createMcpService(crib: Crib): Omit<McpService, keyof AsyncDisposable> {
  const { counter, supervisor, executor, sources } = crib;

  const servers = () => [...counter.sources.values()].filter(({ source_type }) => source_type === 'mcp');
  const find = (id: string) => servers().find((server) => server.id === id);
  /** Also those whose tools are called over HTTP, as a UTCP manual says. */
  const callable = () => [...counter.sources.values()].filter(({ source_type }) => source_type === 'mcp' || source_type === 'openapi');

  function existing(id: string): SourceRecord {
    const server = callable().find((source) => source.id === id);
    if (server === undefined) throw new CribError('NOT_FOUND', 'There is no such MCP server');
    return server;
  }

  const statusOf = (id: string): SourceStatus => supervisor.statusOf(id) ?? { state: 'stopped' };
  const activeTools = (id: string) => counter.snapshot.tools.filter((tool) => tool.source_id === id && tool.state === 'active');
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
    onToolsChanged: (listener) => counter.onChange(listener),
    findToolProvider(toolName) {
      const available = availableTools();
      const exact = counter.snapshot.find(toolName);
      if (exact !== undefined && available.includes(exact)) return exact.source_id;
      const [first] = available.filter(({ definition }) => definition.name === toolName).sort(byNamespace);
      return first?.source_id;
    },
    async callTool(id, toolName, args, { signal = new AbortController().signal, timeoutMs, ...told } = {}) {
      existing(id);
      signal.throwIfAborted();
      // [MCP-5] The first call starts it, however many come at once.
      if (!isAvailable(statusOf(id))) await abortable(supervisor.start(id), signal);
      const tool = activeTools(id).find(({ name, definition }) => definition.name === toolName || name === toolName);
      if (tool === undefined) throw new ToolNotFoundError('This MCP server has no such tool');
      const request = { arguments: args, ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }) };
      const admitted = await executor.admitTrusted(application, tool, request);
      if (told.onEvent !== undefined || told.onElicitation !== undefined) passOn(admitted.call, told);
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
      // Whoever was asked has failed to answer, which is no answer.
      return { action: 'cancel' };
    }
  }
  call.onEvent = (event) => {
    if (event.type === 'elicitation') void ask(event.request).then((answer) => call.answer(event.elicitation_id, answer));
    else tell(() => onEvent?.({ call_id: call.callId, ...event }));
  };
}

/** A listener that throws must not fail the session that all calls of the server share. */
function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    process.emitWarning(`An event of a call could not be passed on: ${String(error)}`);
  }
}

function shown(record: SourceRecord): McpServer {
  if (record.source_type !== 'mcp') throw new CribError('INTERNAL', 'This source is no MCP server');
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
