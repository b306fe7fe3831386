import { join } from 'node:path';
import { createMakeChange } from './administration/change-log.ts';
import { createConnectionAdministration, type ConnectionAdministration } from './administration/connections.ts';
import { createGroupAdministration, type GroupAdministration } from './administration/groups.ts';
import { createPolicyAdministration, type PolicyAdministration } from './administration/policies.ts';
import { createSecretAdministration, type SecretAdministration } from './administration/secrets.ts';
import { createSourceAdministration, type SourceAdministration } from './administration/sources.ts';
import { createToolAdministration, type ToolAdministration } from './administration/tools.ts';
import { createArgumentValidator } from './execution/argument-validator.ts';
import { createCatalogue } from './execution/catalogue.ts';
import { createExecutor, type ExecutionLimits, type Executor } from './execution/executor.ts';
import { createKeptCalls, type KeptCalls } from './execution/kept-calls.ts';
import { createRecorder } from './execution/recorder.ts';
import { createConnections } from './identity/oauth/connections.ts';
import { openCounter, type Counter } from './inventory/counter.ts';
import { refreshSource } from './inventory/refresh-source.ts';
import { toolChoice } from './inventory/tool-choice.ts';
import { builtinSourceId, registerBuiltin } from './inventory/register-builtin.ts';
import type { CallRecord } from './model/call.ts';
import type { SourceRecord, SourceStatus } from './model/source.ts';
import { openKeyRing } from './secrets/open-key-ring.ts';
import { createRedactor } from './secrets/redactor.ts';
import { createSecretStore } from './secrets/secret-store.ts';
import { createBuiltinSource } from './sources/builtin/builtin-source.ts';
import { createProcessRegistry } from './sources/mcp/process/process-registry.ts';
import { createServerLogs } from './sources/mcp/process/server-logs.ts';
import type { ServerLog } from './sources/mcp/process/server-log.ts';
import { createSessionOpener } from './sources/mcp/session-opener.ts';
import { createSpeakers } from './sources/mcp/speakers.ts';
import { lockDataDirectory } from './store/lock-data-directory.ts';
import { openDatabase } from './store/open-database.ts';
import { createStore, type Store } from './store/store.ts';
import { watchChanges } from './store/watch-changes.ts';
import { isAvailable } from './supervision/availability.ts';
import { createSupervisor, type Supervisor } from './supervision/supervisor.ts';
import { version } from './version.ts';

export interface CribConfig {
  /** Where the embedded database and all other state lives. */
  dataDir: string;
  /** A PostgreSQL address; the embedded database when absent. */
  databaseUrl?: string;
  /** Keys for the secrets, or the file they are in; a file in the data directory when absent. */
  keys?: string;
  /** [ENV-2] Environment variables of ours that sources may name as `${VAR}`. */
  allowedEnvironment?: readonly string[];
  /** [MCP-12] Where browsers reach us, for users who come back from an authorization server. */
  publicUrl?: string;
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
  readonly supervisor: Supervisor;
  readonly executor: Executor;
  readonly keptCalls: KeptCalls;
  readonly secrets: SecretAdministration;
  readonly groups: GroupAdministration;
  readonly policies: PolicyAdministration;
  readonly sources: SourceAdministration;
  readonly tools: ToolAdministration;
  readonly connections: ConnectionAdministration;
  statusOf(source: SourceRecord): SourceStatus;
  logOf(sourceId: string): ServerLog;
  /** Resolves when the source is neither starting nor restarting any more, or when the time is over. */
  settled(sourceId: string, timeoutMs: number): Promise<void>;
  /** Waits for running calls up to `drainMs`, cancels the rest, lets the answers be sent, and lets go of everything. */
  close(options: { drainMs: number; answered?: Promise<unknown> }): Promise<void>;
}

const upkeepEveryMs = 3_600_000;
const dayMs = 86_400_000;

export async function openCrib(config: CribConfig): Promise<Crib> {
  await using opened = new AsyncDisposableStack();
  const { dataDir, databaseUrl, warn } = config;
  opened.use(lockDataDirectory(dataDir));
  const database = opened.use(
    await openDatabase(databaseUrl === undefined ? { file: join(dataDir, 'toolcrib.db') } : { url: databaseUrl }),
  );
  const store = createStore(database);
  const keyRing = openKeyRing({ keys: config.keys, dataDir, create: true });
  const secrets = createSecretStore({ store, keyRing });
  await secrets.verify({ warn });
  const redactors = createRedactor();
  const connections = createConnections({ store, keyRing });
  const resolvingFor = (sourceId: string) => ({
    secrets,
    sourceId,
    allowedNames: new Set(config.allowedEnvironment),
    baseEnvironment: process.env,
    redactor: redactors.forSource(sourceId),
  });
  const speakers = createSpeakers(resolvingFor);

  // Listening begins before the first read, so that no change can fall between the two.
  let started: { counter: Counter; supervisor: Supervisor; executor: Executor } | undefined;
  opened.use(
    await watchChanges({
      database,
      // What could not be read is reported again until it was: no server goes on deciding by rules that are gone.
      onChange: async (topics) => {
        if (topics.has('secret') || topics.has('source')) {
          secrets.forget();
          speakers.forget();
        }
        if (topics.has('connection')) connections.tokens.forget();
        await started?.counter.reload(topics);
        if (topics.has('source')) await started?.supervisor.follow(started.counter.sources);
        if (topics.has('connection')) started?.supervisor.reconnect();
      },
      onSignal: (name, payload) => {
        if (name === 'cancel-call' && typeof payload === 'string') started?.executor.running(payload)?.end('cancelled');
      },
      warn,
    }),
  );
  const counter = await openCounter({ store, warn });

  const registry = createProcessRegistry({ dataDir });
  const reaped = await registry.reapOrphans();
  if (reaped > 0) warn(`${reaped} server processes that an earlier Toolcrib left behind were ended`);
  const logs = createServerLogs({ redactors });
  const settling = new Set<() => void>();
  const supervisor = createSupervisor({
    openSession: createSessionOpener({
      resolvingFor,
      registry,
      clientInfo: { name: 'toolcrib', version },
      logOf: logs.of,
      connections: connections.tokens,
      speakers,
    }),
    revisionOf: async (source, owner) => (await connections.tokens.get(await speakers.of(source, owner))).revision,
    async onDiscovered(source, discovered) {
      const chosen = discovered.filter(toolChoice(source.definition?.tools));
      await refreshSource({ store, source, discovered: chosen, actor: 'system', now: Date.now() });
      await counter.reload(new Set(['tool']));
    },
    onStatus(sourceId, status) {
      counter.setAvailable(sourceId, isAvailable(status));
      for (const tell of settling) tell();
    },
    note: (sourceId, message) => logs.of(sourceId).append('event', message),
  });
  opened.defer(() => supervisor.shutdownAll());

  const recorder = createRecorder({ append: (records) => store.calls.append(records) });
  const builtin = opened.adopt(
    createBuiltinSource({ version, catalogue: createCatalogue({ counter, executor: () => executor }) }),
    (source) => source.close(),
  );
  const executor: Executor = createExecutor({
    counter,
    sourceOf: (id) => (id === builtinSourceId ? builtin : supervisor.sourceOf(id)),
    validator: createArgumentValidator(),
    recorder,
    limits: config.limits,
    onFinished: config.onFinished,
    onFault: (error) => warn(redactors.redact(error instanceof Error ? (error.stack ?? error.message) : String(error))),
  });
  const keptCalls = createKeptCalls({ store, executor, warn });
  // Alone with its data, nobody else can be running what is left over.
  const abandonLost = () => keptCalls.abandon(database.dialect === 'sqlite' ? {} : { deadlineBefore: Date.now() });
  await abandonLost();

  await registerBuiltin(store, builtin.tools);
  await counter.reload(new Set(['source', 'tool']));
  started = { counter, supervisor, executor };
  await supervisor.follow(counter.sources);

  const upkeep = setInterval(() => void sweep().catch((error: unknown) => warn(`Upkeep failed: ${String(error)}`)), upkeepEveryMs);
  upkeep.unref();
  async function sweep(): Promise<void> {
    await store.calls.deleteOlderThan(Date.now() - config.retentionDays * dayMs);
    await store.answers.deleteExpired(Date.now());
    if (database.dialect === 'postgres') await abandonLost();
  }

  const change = createMakeChange({ store, counter });
  const resources = opened.move();
  return {
    store,
    counter,
    supervisor,
    executor,
    keptCalls,
    secrets: createSecretAdministration({ secrets, changed: speakers.forget }),
    groups: createGroupAdministration({ change }),
    policies: createPolicyAdministration({ change }),
    sources: createSourceAdministration({ counter, supervisor, secrets, change, forgotten: redactors.forgetSource }),
    tools: createToolAdministration({ counter, change }),
    connections: createConnectionAdministration({
      counter,
      supervisor,
      connections,
      speakers,
      publicUrl: config.publicUrl ?? 'http://127.0.0.1',
    }),
    statusOf: (source) => supervisor.statusOf(source.id) ?? ownStatus(source, counter),
    logOf: logs.of,
    settled(sourceId, timeoutMs) {
      return new Promise((resolve) => {
        const timer = setTimeout(done, timeoutMs);
        function done(): void {
          clearTimeout(timer);
          settling.delete(look);
          resolve();
        }
        function look(): void {
          const state = supervisor.statusOf(sourceId)?.state;
          if (state !== 'starting' && state !== 'restarting') done();
        }
        settling.add(look);
        look();
      });
    },
    async close({ drainMs, answered }) {
      clearInterval(upkeep);
      const timer = setTimeout(() => executor.cancelAll(), drainMs);
      await executor.idle();
      clearTimeout(timer);
      await keptCalls.drain();
      await answered;
      await recorder.drain();
      await resources.disposeAsync();
    },
  };
}

/** What comes with Toolcrib itself runs whenever Toolcrib does. */
function ownStatus(source: SourceRecord, counter: Counter): SourceStatus {
  if (!source.enabled) return { state: 'disabled' };
  const tools = counter.snapshot.tools.filter((tool) => tool.source_id === source.id && tool.state === 'active').length;
  return { state: 'running', tools };
}
