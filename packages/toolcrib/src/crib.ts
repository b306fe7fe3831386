import { createRefusalLog, type RefusalLog } from './administration/refusal-log.ts';
import { startUpkeep } from './administration/upkeep.ts';
import { openDurable } from './durable/open-durable.ts';
import { createAcceptance, type Acceptance } from './execution/acceptance.ts';
import { createAnswerKeeper } from './execution/answer-keeper.ts';
import { createArgumentValidator } from './execution/argument-validator.ts';
import { createCatalogue } from './execution/catalogue.ts';
import { createDurableCalls } from './execution/durable-calls.ts';
import { createExecutor, type Executor } from './execution/executor.ts';
import { createKeptArtifacts, type KeptArtifacts } from './execution/kept-artifacts.ts';
import { createKeptCalls, type KeptCalls } from './execution/kept-calls.ts';
import { createOutputValidator } from './execution/output-validator.ts';
import { recordLostCalls } from './execution/lost-calls.ts';
import { createRecorder } from './execution/recorder.ts';
import { sealEarlier } from './execution/seal-earlier.ts';
import { createRequestRate, type RequestRate } from './execution/request-rate.ts';
import { createShaper } from './execution/shaper.ts';
import { createStepCalls } from './execution/step-calls.ts';
import type { CribConfig } from './crib-config.ts';
import { createConnections } from './identity/oauth/connections.ts';
import { createTokenExchange } from './identity/token-exchange.ts';
import { openCounter, type Counter } from './inventory/counter.ts';
import { refreshSource } from './inventory/refresh-source.ts';
import { reportLines } from './inventory/report-lines.ts';
import { sourceTools, workflowSources } from './inventory/source-tools.ts';
import { toolChoice } from './inventory/tool-choice.ts';
import { builtinSourceId, registerBuiltin } from './inventory/register-builtin.ts';
import { createIsolation } from './isolation/isolation.ts';
import type { RefreshReport } from './model/refresh-report.ts';
import type { BreakerState, SourceRecord, SourceStatus } from './model/source.ts';
import type { Tool } from './model/tool.ts';
import { createEgress, type Egress } from './net/egress.ts';
import { createRedactor } from './secrets/redactor.ts';
import { createBuiltinSource } from './sources/builtin/builtin-source.ts';
import { createServerLogs } from './sources/mcp/process/server-logs.ts';
import type { ServerLog } from './sources/mcp/process/server-log.ts';
import { createSessionOpener } from './sources/mcp/session-opener.ts';
import { createSpeakers } from './sources/upstream/speakers.ts';
import { standingOf } from './sources/upstream/standing.ts';
import { createWireLogs } from './sources/mcp/wire-logs.ts';
import { isRejectedValue, storageTrouble } from './store/storage-trouble.ts';
import type { Store } from './store/store.ts';
import { watchChanges } from './store/watch-changes.ts';
import { isAvailable } from './supervision/availability.ts';
import { createDocumentPort } from './supervision/document-port.ts';
import { createSettling } from './supervision/settling.ts';
import { createSupervisor, type Supervisor } from './supervision/supervisor.ts';
import type { Tracing } from './tracing/open-tracing.ts';
import { openAdministration, type Administration } from './open-administration.ts';
import { openLocalRunning } from './open-local-running.ts';
import { openStorage } from './open-storage.ts';
import { version } from './version.ts';

/** [OPS-1] What is held up at this moment. */
export interface Load {
  /** Calls that wait for a free place. */
  waiting: number;
  /** Sources, by namespace, and tools, by name, whose breaker is not closed. */
  disturbed: [name: string, state: BreakerState][];
}

/** The whole of Toolcrib without its doors: HTTP and the command line only translate. */
export interface Crib extends Administration {
  readonly store: Store;
  /** Whether calls and changes are taken on at all. */
  readonly acceptance: Acceptance;
  readonly egress: Egress;
  readonly tracing: Tracing | undefined;
  readonly counter: Counter;
  readonly supervisor: Supervisor;
  readonly executor: Executor;
  readonly keptCalls: KeptCalls;
  /** [EXEC-7] For what costs much more than it takes to ask. */
  readonly requestRate: RequestRate;
  readonly artifacts: KeptArtifacts;
  readonly refusals: RefusalLog;
  statusOf(source: SourceRecord): SourceStatus;
  logOf(sourceId: string): ServerLog;
  /** [OPS-1] The messages between us and a source, as far as they were kept. */
  wireLogOf(sourceId: string): ServerLog;
  /** [INV-2] What this server found when it last asked the source for its tools. */
  reportOf(sourceId: string): RefreshReport | null;
  /** Why nobody can call a tool, where its input schema turned out to be unusable. */
  unusableSchema(tool: Tool): string | undefined;
  load(): Load;
  /** Resolves when the source is neither starting nor restarting any more, or when the time is over. */
  settled(sourceId: string, timeoutMs: number): Promise<void>;
  /** Waits for running calls up to `drainMs`, cancels the rest, leaves to others what goes on without this server, lets the answers be sent, and lets go of everything. */
  close(options: { drainMs: number; answered?: Promise<unknown> }): Promise<void>;
}

/** How long calls that are gone on with wait for sources that are being started. */
const sourcesReadyMs = 60_000;
/** For how long a server that stops goes on trying to write what could not be written before. */
const lastTryMs = 2000;

export async function openCrib(config: CribConfig): Promise<Crib> {
  await using opened = new AsyncDisposableStack();
  const { warn, development = false } = config;
  const acceptance = createAcceptance({ warn });
  const egress = createEgress({
    ...config,
    allowedNetworks: config.allowedNetworks ?? ['loopback'],
    lenient: development ? { warn, privateNetworks: config.allowedNetworks === undefined } : undefined,
  });
  const { database, server, keyRing, store, secrets, rescue } = await openStorage(config, acceptance, opened);
  // Loaded only where it is wanted.
  const tracing =
    config.tracing && (await import('./tracing/open-tracing.ts')).openTracing({ config: config.tracing, egress, version, warn });
  opened.defer(() => tracing?.close());
  const redactors = createRedactor();
  const connections = createConnections({ store, keyRing, egress });
  const allowedNames = new Set(config.allowedEnvironment);
  const resolvingFor = (sourceId: string) => ({
    secrets,
    sourceId,
    allowedNames,
    baseEnvironment: process.env,
    redactor: redactors.forSource(sourceId),
  });
  const speakers = createSpeakers(resolvingFor);
  const exchange = opened.adopt(
    createTokenExchange({ egress, issuerOf: (issuer) => config.issuerOf?.(issuer), onExchange: config.onExchange }),
    (exchanging) => exchanging.close(),
  );

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
        if (topics.has('source')) started?.supervisor.follow(started.counter.sources);
        if (topics.has('secret')) await started?.supervisor.secretsChanged();
        if (topics.has('connection')) started?.supervisor.reconnect();
      },
      onSeen: acceptance.changesSeen,
      onSignal: (name, payload) => {
        if (name === 'cancel-call' && typeof payload === 'string') started?.executor.running(payload)?.end('cancelled');
      },
      warn,
    }),
  );
  const counter = await openCounter({ store, warn, development, embedder: config.embedder });

  const running = await openLocalRunning(config, opened);
  const { containers, images, prepareRun, gate } = running;
  const logs = createServerLogs({ redactors });
  const wireLogs = createWireLogs({ redactors });
  const settling = createSettling({ statusOf: (sourceId) => supervisor.statusOf(sourceId) });
  const opening = {
    ...running,
    egress,
    clientInfo: { name: 'toolcrib', version },
    connections: connections.tokens,
    speakers,
    exchange,
  };
  const isolation = opened.adopt(createIsolation(), (processes) => processes.close());
  const documents = createDocumentPort({
    ...opening,
    isolation,
    resolvingFor,
    wireOf: wireLogs.of,
    documents: store.documents,
    toolsOf: (namespace) => sourceTools(counter, namespace),
    countTools: (sourceId) => counter.snapshot.tools.filter((tool) => tool.source_id === sourceId && tool.state !== 'deprecated').length,
    callTool: (request, context) => callStep(request, context),
  });
  const reports = new Map<string, RefreshReport>();
  const supervisor: Supervisor = createSupervisor({
    openSession: createSessionOpener({ ...opening, resolvingFor, logOf: logs.of, wireOf: wireLogs.of }),
    documents: documents.port,
    standingOf: (source, principal) => standingOf({ source, principal, connections: connections.tokens, speakers }),
    async onDiscovered(source, discovered) {
      const chosen = discovered.filter(toolChoice(source.definition?.tools));
      const report = await refreshSource({ store, source, discovered: chosen, actor: 'system', now: Date.now() });
      reports.set(source.id, report);
      for (const line of reportLines(report, source)) logs.of(source.id).append('event', line);
      await counter.reload(new Set(['tool']));
      // [WF-1] Steps are bound to the tools that there are.
      if (source.source_type === 'openapi')
        for (const { id } of workflowSources(counter.sources)) supervisor.refresh(id).catch(() => undefined);
    },
    onStatus(sourceId, status) {
      counter.setAvailable(sourceId, isAvailable(status));
      // Started anew, or gone: what was held against it counts no more.
      if (status.state !== 'starting' && status.state !== 'restarting') started?.executor.load.forget(sourceId);
      settling.changed();
    },
    releaseSource({ id }) {
      prepareRun.forget(id);
      return containers.release(id);
    },
    pullingOf: images.pullingOf,
    onNotice: config.onSourceNotice,
    refreshPauses: config.refreshPauses,
    note: (sourceId, message) => logs.of(sourceId).append('event', message),
    saidSince: (sourceId, time) => logs.of(sourceId).lastWordsSince(time),
    onReleased(sourceId) {
      redactors.forgetSource(sourceId);
      logs.forget(sourceId);
      wireLogs.forget(sourceId);
      reports.delete(sourceId);
    },
  });
  opened.defer(() => supervisor.shutdownAll());

  const refusals = createRefusalLog({ append: (noted) => store.refusals.append(noted), warn });
  const recorder = createRecorder({
    append: (records) => store.calls.append(records),
    acceptance,
    troubleOf: storageTrouble,
    isRejected: isRejectedValue,
    warn,
    onWritten: config.onRecorded,
  });
  const requestRate = createRequestRate(config.requestLimits ?? {});
  const builtin = opened.adopt(
    createBuiltinSource({ version, catalogue: createCatalogue({ counter, executor: () => executor, rate: requestRate }) }),
    (source) => source.close(),
  );
  const { bytesPerPrincipal } = config.artifacts;
  await sealEarlier(store, keyRing);
  const artifacts = createKeptArtifacts({ store, keyRing, bytesPerPrincipal, warn });
  const durable = opened.adopt(openDurable(database, warn), (jobs) => jobs.close());
  const answerKeeper = createAnswerKeeper({ store, keyRing, bytesPerPrincipal, warn });
  const durableCalls = createDurableCalls({
    durable,
    keyRing,
    store,
    answerKeeper,
    abandon: (callId, reason) => keptCalls.giveUp(callId, reason),
    warn,
  });
  const validator = opened.adopt(
    createArgumentValidator({
      timeLimitMs: config.checkMs,
      onUnusable: ({ name, source_id }, reason) =>
        logs.of(source_id).append('event', `Nobody can call ${name}: its input schema ${reason}`),
    }),
    (checking) => checking.close(),
  );
  const executor: Executor = createExecutor({
    counter,
    acceptance,
    durableCalls,
    async sourcesReady() {
      await Promise.all([...counter.sources.keys()].map((id) => settling.settled(id, sourcesReadyMs)));
    },
    sourceOf: (id) => (id === builtinSourceId ? builtin : supervisor.sourceOf(id)),
    validator,
    shape: createShaper({
      artifacts,
      outputs: createOutputValidator(),
      responseBytes: config.responseBytes,
      onNotice: config.onNotice,
    }),
    recorder,
    traces: {
      server,
      async write(begun, ended) {
        await store.inFlight.add(begun);
        await store.inFlight.remove(ended);
      },
      acceptance,
      troubleOf: storageTrouble,
    },
    limits: config.limits,
    tracer: tracing?.tracer,
    onFinished: config.onFinished,
    onNotice: config.onNotice,
    onSourceFault: config.onSourceFault,
    onFault: (error, callId) =>
      warn(redactors.redact(`Call ${callId}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)),
  });
  const keptCalls: KeptCalls = createKeptCalls({ store, executor, answerKeeper, keyRing });
  const callStep = createStepCalls({ executor, keptCalls, store, durableCalls, acceptance });
  // Alone with its data, nobody else can be running what is left over.
  const abandonLost = async () => {
    await recordLostCalls({ store, endedBefore: Date.now() });
    await keptCalls.abandon({
      except: await durable.unfinished(),
      ...(database.dialect === 'sqlite' ? {} : { deadlineBefore: Date.now() }),
    });
  };
  // Before what was kept for callers: what was noted says more.
  const lost = await recordLostCalls({ store, server, endedBefore: Date.now() });
  if (lost > 0) warn(`${lost} calls were running when a server was killed, and are recorded as unknown`);
  await abandonLost();

  await registerBuiltin(store, builtin.tools);
  // From here on changes are reloaded as they are seen; those that were seen before are read with this reload.
  started = { counter, supervisor, executor };
  await counter.reload(new Set(['source', 'tool']));
  supervisor.follow(counter.sources);
  await durableCalls.recover(executor.goOn);

  const upkeep = startUpkeep({
    store,
    days: { calls: config.retentionDays, changes: config.auditRetentionDays ?? 400, artifacts: config.artifacts.days },
    abandonLost: database.dialect === 'postgres' ? abandonLost : undefined,
    onAuditHeads: config.onAuditHeads,
    warn,
  });

  const administration = openAdministration(config, {
    store,
    counter,
    acceptance,
    supervisor,
    secrets,
    connections,
    speakers,
    allowedNames,
    egress,
    gate,
    wireLogs,
    checkContainer: containers.check,
    createOpener: (overlaid) =>
      createSessionOpener({
        ...opening,
        resolvingFor: (sourceId) => ({ ...resolvingFor(sourceId), secrets: overlaid }),
        logOf: createServerLogs({ redactors }).of,
        wireOf: createWireLogs({ redactors }).of,
      }),
    importDocument: (source, { secrets: overlaid, text }, turn) =>
      documents.importOnce(source, { resolving: { ...resolvingFor(source.id), secrets: overlaid }, text }, turn),
    async forgotten(sourceId) {
      redactors.forgetSource(sourceId);
      // Where Docker is away, what is left is removed by the next start.
      await containers.release(sourceId).catch(() => undefined);
    },
  });
  const resources = opened.move();
  return {
    ...administration,
    store,
    acceptance,
    egress,
    tracing,
    counter,
    supervisor,
    executor,
    keptCalls,
    requestRate,
    artifacts,
    refusals,
    statusOf: (source) => supervisor.statusOf(source.id) ?? ownStatus(source, counter),
    logOf: logs.of,
    wireLogOf: (sourceId) => wireLogs.of(sourceId).log,
    reportOf: (sourceId) => reports.get(sourceId) ?? null,
    unusableSchema: validator.unusable,
    load() {
      const nameOf = (key: string) => counter.sources.get(key)?.namespace ?? counter.snapshot.find(key)?.name ?? key;
      const { waiting, disturbed } = executor.load;
      return { waiting, disturbed: disturbed().map(([key, state]) => [nameOf(key), state]) };
    },
    settled: settling.settled,
    async close({ drainMs, answered }) {
      upkeep.stop();
      executor.leaveDurable();
      const drainedBy = performance.now() + drainMs;
      const timer = setTimeout(() => {
        executor.cancelAll();
        // Whoever still waits to be admitted is refused.
        void validator.close();
      }, drainMs);
      await executor.idle();
      clearTimeout(timer);
      await keptCalls.drain();
      await answered;
      for (const lost of await recorder.drain(Math.max(lastTryMs, drainedBy - performance.now())))
        warn(`A call was made whose record could not be written: ${JSON.stringify(lost)}`);
      await refusals.flush();
      await upkeep.tellHeads().catch((error: unknown) => warn(`The heads of the record could not be read: ${String(error)}`));
      await rescue();
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
