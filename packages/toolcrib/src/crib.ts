import { createRefusalLog, type RefusalLog } from './administration/refusal-log.ts';
import { startUpkeep, type Upkeep } from './administration/upkeep.ts';
import type { CribConfig } from './crib-config.ts';
import { createAcceptance, type Acceptance } from './execution/acceptance.ts';
import type { Executor } from './execution/executor.ts';
import type { KeptArtifacts } from './execution/kept-artifacts.ts';
import type { KeptCalls } from './execution/kept-calls.ts';
import type { OwnCalls } from './execution/own-calls.ts';
import { createRequestRate, type RequestRate } from './resilience/request-rate.ts';
import { openInventory, type Inventory } from './inventory/inventory.ts';
import { registerBuiltin } from './inventory/register-builtin.ts';
import { boundSources } from './inventory/source-tools.ts';
import type { ChangeTopic } from './model/event.ts';
import type { RefreshReport } from './model/refresh-report.ts';
import type { BreakerState, SourceRecord, SourceStatus } from './model/source.ts';
import { createEgress, type Egress } from './net/egress.ts';
import { openAdministration, type Administration } from './open-administration.ts';
import { openExecution } from './open-execution.ts';
import { openSources } from './open-sources.ts';
import { openStorage } from './open-storage.ts';
import { openUpstream } from './open-upstream.ts';
import { createSeals, type Seals } from './secrets/seals.ts';
import type { ServerLog } from './sources/upstream/logs/server-log.ts';
import type { Mail } from './store/mail.ts';
import type { Store } from './store/store.ts';
import { isAvailable } from './supervision/availability.ts';
import type { Supervisor } from './supervision/supervisor.ts';
import type { Tracing } from './tracing/open-tracing.ts';
import { version } from './version.ts';

/** [OPS-1] Calls that wait, and breakers that are not closed. */
interface Load {
  /** Calls that wait for a free place. */
  waiting: number;
  /** Sources, by namespace, and tools, by name, whose breaker is not closed. */
  disturbed: [name: string, state: BreakerState][];
  /** What was recorded and is not in the database yet; undefined where calls are recorded there at once. */
  journal: { bytes: number; seconds: number } | undefined;
}

/** All of Toolcrib without its interfaces: HTTP and the command line only translate. */
export interface Crib extends Administration {
  readonly store: Store;
  /** Whether calls and changes are accepted at all. */
  readonly acceptance: Acceptance;
  readonly egress: Egress;
  readonly tracing: Tracing | undefined;
  readonly inventory: Inventory;
  readonly supervisor: Supervisor;
  readonly executor: Executor;
  readonly keptCalls: KeptCalls;
  readonly ownCalls: OwnCalls;
  /** [EXEC-7] Limits expensive requests. */
  readonly requestRate: RequestRate;
  readonly artifacts: KeptArtifacts;
  readonly refusals: RefusalLog;
  /** Seals texts for their way to a client and back. */
  readonly seals: Seals;
  /** Reaches the other servers with the same database. */
  readonly mail: Mail;
  /** The value of a stored secret, for the server's own settings. */
  secretOf(name: string): Promise<string | undefined>;
  /** Calls the listener when any server has changed something about these. */
  onChanged(listener: ChangeListener): void;
  statusOf(source: SourceRecord): SourceStatus;
  logOf(sourceId: string): ServerLog;
  /** [OPS-1] The logged messages between this server and a source. */
  wireLogOf(sourceId: string): ServerLog;
  /** [INV-2] What this server found at the last refresh of the source. */
  reportOf(sourceId: string): RefreshReport | null;
  load(): Load;
  /** Resolves when the source is neither starting nor restarting, or after the timeout. */
  settled(sourceId: string, timeoutMs: number): Promise<void>;
  /**
   * Waits up to `drainMs` for running calls and cancels the rest, leaves durable calls to other servers, waits until answers are sent, and
   * closes everything.
   */
  close(options: { drainMs: number; answered?: Promise<unknown> }): Promise<void>;
}

/** Rejects if the change could not be read; it is then reported again. */
type ChangeListener = (topics: ReadonlySet<ChangeTopic>) => Promise<void>;

/** How long a stopping server at least retries records that could not be written. */
const lastTryMs = 2000;

/** Opens each stage after those it needs, connects the few signals that run against that order, and starts the sources. */
export async function openCrib(config: CribConfig): Promise<Crib> {
  await using opened = new AsyncDisposableStack();
  const { warn, development = false, embedder } = config;
  const acceptance = createAcceptance({ warn });
  const requestRate = createRequestRate(config.requestLimits ?? {});
  const egress = openEgress(config);
  const storage = await openStorage(config, acceptance, opened);
  const { store } = storage;
  const refusals = createRefusalLog({ append: (noted) => store.refusals.append(noted), warn });
  const tracing = await openTraces(config, egress, opened);
  const inventory = await openInventory({ store, warn, development, embedder });
  const upstream = openUpstream(config, { ...storage, egress }, opened);
  const sources = await openSources(config, { ...storage, egress, inventory, requestRate, upstream }, opened);
  const execution = await openExecution(config, { ...sources, storage, acceptance, inventory, upstream, tracer: tracing?.tracer }, opened);
  const administration = openAdministration(config, {
    ...storage,
    ...upstream,
    ...sources,
    inventory,
    acceptance,
    egress,
    refusals,
    breakerOf: execution.executor.load.breakerOf,
    unusableSchema: execution.validator.unusable,
  });

  const builtin = await registerBuiltin(store);
  const listeners: ChangeListener[] = [];
  const stages = { storage, inventory, upstream, sources, execution, listeners };
  connectSignals(stages);
  // From here on, changes trigger a reload; this one catches up on earlier changes.
  await inventory.reload(new Set(['source', 'tool']));
  // The built-in tools are ready before the first request.
  await sources.supervisor.adopt(builtin);
  await sources.supervisor.start(builtin.id);
  sources.supervisor.follow(inventory.sources);
  await execution.recover();
  const upkeep = startUpkeep({
    store,
    days: { calls: config.retentionDays, changes: config.auditRetentionDays ?? 400, artifacts: config.artifacts.days },
    abandonLost: storage.database.dialect === 'postgres' ? execution.abandonLost : undefined,
    observer: config.observer,
    warn,
  });
  const { supervisor, settling, reportOf } = sources;
  const { executor, keptCalls, ownCalls, artifacts } = execution;
  return {
    ...administration,
    store,
    acceptance,
    egress,
    tracing,
    inventory,
    supervisor,
    executor,
    keptCalls,
    ownCalls,
    requestRate,
    artifacts,
    refusals,
    seals: createSeals(storage.keyRing),
    mail: storage.mail,
    secretOf: async (name) => (await storage.secrets.get(name))?.reveal(),
    onChanged: (listener) => void listeners.push(listener),
    statusOf: administration.sources.statusOf,
    logOf: upstream.logs.of,
    wireLogOf: (sourceId) => upstream.wireLogs.of(sourceId).log,
    reportOf,
    load: () => loadOf(stages),
    settled: settling.settled,
    close: createClose({ ...stages, upkeep, refusals, resources: opened.move(), warn }),
  };
}

function openEgress(config: CribConfig): Egress {
  const { warn, development = false, allowedNetworks } = config;
  return createEgress({
    ...config,
    allowedNetworks: allowedNetworks ?? ['loopback'],
    lenient: development ? { warn, privateNetworks: allowedNetworks === undefined } : undefined,
  });
}

/** Loads OpenTelemetry only if tracing is configured. */
async function openTraces({ tracing: config, warn }: CribConfig, egress: Egress, opened: AsyncDisposableStack) {
  if (config === undefined) return undefined;
  const { openTracing } = await import('./tracing/open-tracing.ts');
  return opened.adopt(openTracing({ config, egress, version, warn }), (tracing) => tracing.close());
}

interface Stages {
  storage: Awaited<ReturnType<typeof openStorage>>;
  inventory: Inventory;
  upstream: ReturnType<typeof openUpstream>;
  sources: Awaited<ReturnType<typeof openSources>>;
  execution: Awaited<ReturnType<typeof openExecution>>;
  listeners: readonly ChangeListener[];
}

/** All signals that run against the order of the stages. */
function connectSignals({ storage, inventory, upstream, sources, execution, listeners }: Stages): void {
  const { supervisor, settling } = sources;
  const { executor, callStep } = execution;
  sources.onSignals({
    executor,
    callStep,
    statusChanged(sourceId, status) {
      inventory.setAvailable(sourceId, isAvailable(status));
      // The source has started again, or stopped: its earlier failures no longer count.
      if (status.state !== 'starting' && status.state !== 'restarting') executor.load.forget(sourceId);
      settling.changed();
    },
    refreshed(source) {
      for (const { id } of boundSources(inventory.sources, source)) supervisor.refresh(id).catch(() => undefined);
    },
  });
  storage.onSignals({
    async changed(topics) {
      if (topics.has('secret') || topics.has('source')) upstream.connectionOwners.forget();
      if (topics.has('connection')) upstream.connections.tokens.forget();
      await inventory.reload(topics);
      if (topics.has('source')) supervisor.follow(inventory.sources);
      if (topics.has('secret')) await supervisor.secretsChanged();
      if (topics.has('connection')) supervisor.reconnect();
      for (const listener of listeners) await listener(topics);
    },
    cancelCall: (callId) => executor.running(callId)?.end('cancelled'),
  });
}

function loadOf({ inventory, execution, storage }: Pick<Stages, 'inventory' | 'execution' | 'storage'>): Load {
  const nameOf = (key: string) => inventory.sources.get(key)?.namespace ?? inventory.find(key)?.name ?? key;
  const { waiting, disturbed } = execution.executor.load;
  return { waiting, disturbed: disturbed().map(([key, state]) => [nameOf(key), state]), journal: storage.journal?.backlog };
}

interface CloseInput extends Pick<Stages, 'storage' | 'execution'> {
  upkeep: Upkeep;
  refusals: RefusalLog;
  resources: AsyncDisposableStack;
  warn(message: string): void;
}

function createClose({ storage, execution, upkeep, refusals, resources, warn }: CloseInput): Crib['close'] {
  const { executor, validator, keptCalls, recorder } = execution;
  return async ({ drainMs, answered }) => {
    upkeep.stop();
    executor.leaveDurable();
    const drainedBy = performance.now() + drainMs;
    const timer = setTimeout(() => {
      executor.cancelAll();
      // Calls that still wait to be admitted are refused.
      void validator.close();
    }, drainMs);
    await executor.idle();
    clearTimeout(timer);
    await keptCalls.drain();
    await answered;
    for (const lost of await recorder.drain(Math.max(lastTryMs, drainedBy - performance.now())))
      warn(`The record of a call could not be written: ${JSON.stringify(lost)}`);
    await refusals.flush();
    await upkeep.tellHeads().catch((error: unknown) => warn(`The heads of the record could not be read: ${String(error)}`));
    await storage.rescue();
    await resources.disposeAsync();
  };
}
