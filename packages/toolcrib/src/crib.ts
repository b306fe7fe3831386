import { join } from 'node:path';
import { createMakeChange } from './administration/change-log.ts';
import { createGroupAdministration, type GroupAdministration } from './administration/groups.ts';
import { createPolicyAdministration, type PolicyAdministration } from './administration/policies.ts';
import { createToolAdministration, type ToolAdministration } from './administration/tools.ts';
import { createArgumentValidator } from './execution/argument-validator.ts';
import { createExecutor, type ExecutionLimits, type Executor } from './execution/executor.ts';
import { createKeptCalls, type KeptCalls } from './execution/kept-calls.ts';
import { createRecorder } from './execution/recorder.ts';
import { openCounter, type Counter } from './inventory/counter.ts';
import { describeTool } from './inventory/describe-tool.ts';
import { refreshSource } from './inventory/refresh-source.ts';
import type { CallRecord } from './model/call.ts';
import { CribError } from './model/crib-error.ts';
import type { SourceRecord, SourceStatus } from './model/source.ts';
import { createBuiltinSource } from './sources/builtin/builtin-source.ts';
import type { Source } from './sources/source.ts';
import { lockDataDirectory } from './store/lock-data-directory.ts';
import { openDatabase } from './store/open-database.ts';
import { createStore, type Store } from './store/store.ts';
import { watchChanges } from './store/watch-changes.ts';
import { version } from './version.ts';

export interface CribConfig {
  /** Where the embedded database and all other state lives. */
  dataDir: string;
  /** A PostgreSQL address; the embedded database when absent. */
  databaseUrl?: string;
  limits: ExecutionLimits;
  /** How long the record of calls is kept. */
  retentionDays: number;
  warn(message: string): void;
  onFinished?(record: CallRecord): void;
}

/** The whole of Toolcrib without its doors: HTTP and the command line only translate. */
export interface Crib {
  readonly store: Store;
  readonly counter: Counter;
  readonly executor: Executor;
  readonly keptCalls: KeptCalls;
  readonly groups: GroupAdministration;
  readonly policies: PolicyAdministration;
  readonly tools: ToolAdministration;
  statusOf(source: SourceRecord): SourceStatus;
  /** Waits for running calls up to `drainMs`, cancels the rest, and lets go of everything once the requests are `answered` too. */
  close(options: { drainMs: number; answered?: Promise<unknown> }): Promise<void>;
}

/** The same on every server, so that replicas on one database agree. */
const builtinSourceId = '00000000-0000-4000-8000-000000000001';
const upkeepEveryMs = 3_600_000;
const dayMs = 86_400_000;

export async function openCrib(config: CribConfig): Promise<Crib> {
  await using opened = new AsyncDisposableStack();
  opened.use(lockDataDirectory(config.dataDir));
  const { databaseUrl, warn } = config;
  const database = opened.use(
    await openDatabase(databaseUrl === undefined ? { file: join(config.dataDir, 'toolcrib.db') } : { url: databaseUrl }),
  );
  const store = createStore(database);

  // Listening begins before the first read, so that no change can fall between the two.
  let counter: Counter | undefined;
  let executor: Executor | undefined;
  opened.use(
    await watchChanges({
      database,
      // What could not be read is reported again until it was: no server goes on deciding by rules that are gone.
      onChange: async (topics) => {
        await counter?.reload(topics);
      },
      onSignal: (name, payload) => {
        if (name === 'cancel-call' && typeof payload === 'string') executor?.running(payload)?.end('cancelled');
      },
      warn,
    }),
  );
  counter = await openCounter({ store, warn });

  const recorder = createRecorder({ append: (records) => store.calls.append(records) });
  const sources = new Map<string, Source>();
  executor = createExecutor({
    counter,
    sourceOf: (id) => sources.get(id),
    validator: createArgumentValidator(),
    recorder,
    limits: config.limits,
    onFinished: config.onFinished,
    onFault: (error) => warn(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  });
  const keptCalls = createKeptCalls({ store, executor, warn });
  // Alone with its data, nobody else can be running what is left over.
  const abandonLost = () => keptCalls.abandon(database.dialect === 'sqlite' ? {} : { deadlineBefore: Date.now() });
  await abandonLost();

  sources.set(
    builtinSourceId,
    opened.adopt(builtinSource(counter, executor), (source) => source.close()),
  );
  await registerBuiltin(store, sources);
  await counter.reload(new Set(['source', 'tool']));

  const upkeep = setInterval(() => void sweep().catch((error: unknown) => warn(`Upkeep failed: ${String(error)}`)), upkeepEveryMs);
  upkeep.unref();
  async function sweep(): Promise<void> {
    await store.calls.deleteOlderThan(Date.now() - config.retentionDays * dayMs);
    await store.answers.deleteExpired(Date.now());
    if (database.dialect === 'postgres') await abandonLost();
  }

  const change = createMakeChange({ store, counter });
  const running = { counter, executor };
  const resources = opened.move();
  return {
    store,
    ...running,
    keptCalls,
    groups: createGroupAdministration({ change }),
    policies: createPolicyAdministration({ change }),
    tools: createToolAdministration({ counter, change }),
    statusOf: (source) => statusOf(source, running.counter),
    async close({ drainMs, answered }) {
      clearInterval(upkeep);
      const timer = setTimeout(() => running.executor.cancelAll(), drainMs);
      await running.executor.idle();
      clearTimeout(timer);
      await keptCalls.drain();
      await answered;
      await recorder.drain().catch((error: unknown) => warn(`The last calls could not be recorded: ${String(error)}`));
      await resources.disposeAsync();
    },
  };
}

/** [BI-2] The tools about tools see exactly what their caller may see, and call through the same path. */
function builtinSource(counter: Counter, executor: Executor): Source {
  return createBuiltinSource({
    version,
    catalogue: {
      search: (principal, query, limit) =>
        counter
          .search(counter.accessOf(principal), query)
          .slice(0, limit)
          .map(({ name, model_name, title, description }) => ({ name, model_name, title, description })),
      describe: (principal, name) => {
        const tool = counter.snapshot.find(name);
        const permission = tool && counter.accessOf(principal).permissions.get(tool.tool_id);
        return permission && describeTool(permission.tool);
      },
      call: async (name, args, context) => {
        const admitted = await executor.admit(context.principal, { tool: name, arguments: args });
        admitted.call.onEvent = (event) => {
          if (event.type === 'progress') context.progress(event);
          else context.log(event.level, event.data);
        };
        const cancel = () => admitted.call.end('cancelled');
        context.signal.addEventListener('abort', cancel, { once: true });
        if (context.signal.aborted) cancel();
        try {
          return await executor.run(admitted);
        } finally {
          context.signal.removeEventListener('abort', cancel);
        }
      },
    },
  });
}

async function registerBuiltin(store: Store, sources: ReadonlyMap<string, Source>): Promise<void> {
  const now = Date.now();
  const known = await store.sources.get(builtinSourceId);
  const source: SourceRecord = known ?? {
    id: builtinSourceId,
    name: 'Built-in tools',
    namespace: 'builtin',
    source_type: 'builtin',
    enabled: true,
    created_at: now,
    updated_at: now,
  };
  if (known === undefined) {
    const change = {
      kind: 'source-created',
      topic: 'source',
      subject: source.id,
      actor: 'system',
      before: null,
      after: { ...source },
    } as const;
    await store
      .change(change, (tx) => tx.sources.upsert(source))
      .catch((error: unknown) => {
        // Another server on the same database may have been a moment quicker.
        if (!(error instanceof CribError && error.code === 'CONFLICT')) throw error;
      });
  }
  const discovered = await sources.get(builtinSourceId)?.discover(AbortSignal.timeout(10_000));
  await refreshSource({ store, source, discovered: discovered ?? [], actor: 'system', now });
}

function statusOf(source: SourceRecord, counter: Counter): SourceStatus {
  if (!source.enabled) return { state: 'disabled' };
  const tools = counter.snapshot.tools.filter((tool) => tool.source_id === source.id && tool.state === 'active').length;
  return { state: 'running', tools };
}
