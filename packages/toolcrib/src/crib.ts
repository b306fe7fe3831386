import { join } from 'node:path';
import { createApprovalAdministration, type ApprovalAdministration } from './administration/approvals.ts';
import { createMakeChange } from './administration/change-log.ts';
import { createConfigurationAdministration, type ConfigurationAdministration } from './administration/configuration/configuration.ts';
import { createConnectionAdministration, type ConnectionAdministration } from './administration/connections.ts';
import { createGroupAdministration, type GroupAdministration } from './administration/groups.ts';
import { createPolicyAdministration, type PolicyAdministration } from './administration/policies.ts';
import { createRefusalLog, type RefusalLog } from './administration/refusal-log.ts';
import { createScopeOf } from './administration/registration-scope.ts';
import { createSecretAdministration, type SecretAdministration } from './administration/secrets.ts';
import { createSourcePreview, type PreviewSource } from './administration/source-preview.ts';
import { rescueData } from './administration/rescue-data.ts';
import { createRunPermission, type RunPermission } from './administration/run-permission.ts';
import { createSourceAdministration, type SourceAdministration } from './administration/sources.ts';
import { createToolAdministration, type ToolAdministration } from './administration/tools.ts';
import { startUpkeep } from './administration/upkeep.ts';
import { createWireLogAdministration, type WireLogAdministration } from './administration/wire-log.ts';
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
import { createDockerEngine } from './net/docker/engine.ts';
import { createEgress, type Egress } from './net/egress.ts';
import { createAuditKeys } from './secrets/audit-keys.ts';
import { openKeyRing } from './secrets/open-key-ring.ts';
import { createRedactor } from './secrets/redactor.ts';
import { createSecretStore } from './secrets/secret-store.ts';
import { createBuiltinSource } from './sources/builtin/builtin-source.ts';
import { createContainerOwner } from './sources/mcp/container/container-owner.ts';
import { createContainers } from './sources/mcp/container/containers.ts';
import { dockerEnvironment } from './sources/mcp/process/docker-environment.ts';
import { createResourceWatch } from './sources/mcp/process/resource-watch.ts';
import { openRunAccount } from './sources/mcp/process/run-account.ts';
import { createProcessRegistry } from './sources/mcp/process/process-registry.ts';
import { createServerLogs } from './sources/mcp/process/server-logs.ts';
import type { ServerLog } from './sources/mcp/process/server-log.ts';
import { createRunGate } from './sources/mcp/run/run-gate.ts';
import { createSessionOpener } from './sources/mcp/session-opener.ts';
import { createSpeakers } from './sources/upstream/speakers.ts';
import { standingOf } from './sources/upstream/standing.ts';
import { createWireLogs } from './sources/mcp/wire-logs.ts';
import { lockDataDirectory } from './store/lock-data-directory.ts';
import { needsKeys } from './store/needs-keys.ts';
import { openDatabase } from './store/open-database.ts';
import { serverId } from './store/server-id.ts';
import { isRejectedValue, storageTrouble } from './store/storage-trouble.ts';
import { shutDataFolder } from './store/shut-data-folder.ts';
import { createStore, type Store } from './store/store.ts';
import { watchChanges } from './store/watch-changes.ts';
import { watchDataFolder } from './store/watch-data-folder.ts';
import { isAvailable } from './supervision/availability.ts';
import { createDocumentPort } from './supervision/document-port.ts';
import { createSettling } from './supervision/settling.ts';
import { createSupervisor, type Supervisor } from './supervision/supervisor.ts';
import type { Tracing } from './tracing/open-tracing.ts';
import { version } from './version.ts';

/** [OPS-1] What is held up at this moment. */
export interface Load {
  /** Calls that wait for a free place. */
  waiting: number;
  /** Sources, by namespace, and tools, by name, whose breaker is not closed. */
  disturbed: [name: string, state: BreakerState][];
}

/** The whole of Toolcrib without its doors: HTTP and the command line only translate. */
export interface Crib {
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
  readonly secrets: SecretAdministration;
  readonly groups: GroupAdministration;
  readonly policies: PolicyAdministration;
  readonly sources: SourceAdministration;
  readonly previewSource: PreviewSource;
  readonly runPermission: RunPermission;
  readonly tools: ToolAdministration;
  readonly approvals: ApprovalAdministration;
  readonly refusals: RefusalLog;
  readonly connections: ConnectionAdministration;
  readonly configuration: ConfigurationAdministration;
  readonly wireLog: WireLogAdministration;
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
  const { dataDir, databaseUrl, warn, development = false } = config;
  const acceptance = createAcceptance({ warn });
  const egress = createEgress({ ...config, allowedNetworks: config.allowedNetworks ?? ['loopback'] });
  opened.use(lockDataDirectory(dataDir));
  shutDataFolder(dataDir, warn);
  // Loaded only where it is wanted.
  const tracing =
    config.tracing && (await import('./tracing/open-tracing.ts')).openTracing({ config: config.tracing, egress, version, warn });
  opened.defer(() => tracing?.close());
  const database = opened.use(
    await openDatabase(databaseUrl === undefined ? { file: join(dataDir, 'toolcrib.db') } : { url: databaseUrl }),
  );
  // Alone with its data, whatever is noted there is its own.
  const server = database.dialect === 'sqlite' ? 'here' : serverId(dataDir);
  const keyRing = openKeyRing({ keys: config.keys, dataDir, create: !(await needsKeys(database)) });
  // On PostgreSQL nothing is lost with the folder.
  const dataFolder =
    database.dialect === 'postgres'
      ? undefined
      : opened.use(
          watchDataFolder({
            dataDir,
            onGone(reason) {
              acceptance.suspend('data-folder', reason);
              warn(`Put ${dataDir} back as it was, or stop this server: it then writes what it has to a folder beside it`);
            },
            onBack: () => acceptance.resume('data-folder'),
          }),
        );
  const store = createStore(database, { keys: createAuditKeys(keyRing), check: dataFolder?.check });
  const secrets = createSecretStore({ store, keyRing });
  await secrets.verify({ warn });
  const redactors = createRedactor();
  const connections = createConnections({ store, keyRing, egress });
  const allowedNames = new Set(config.allowedEnvironment);
  const { allowedMounts = [] } = config;
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
  const counter = await openCounter({ store, warn, development });

  const dockerHost = config.dockerHost ?? process.env['DOCKER_HOST'];
  const docker = dockerEnvironment(dockerHost, process.env);
  const registry = createProcessRegistry({ dataDir, dockerEnvironment: docker });
  const reaped = await registry.reapOrphans();
  if (reaped > 0) warn(`${reaped} server processes that an earlier Toolcrib left behind were ended`);
  const logs = createServerLogs({ redactors });
  const wireLogs = createWireLogs({ redactors });
  const settling = createSettling({ statusOf: (sourceId) => supervisor.statusOf(sourceId) });
  const engine = opened.adopt(createDockerEngine(dockerHost, process.env), (docker) => docker.close());
  const containers = createContainers({ engine, owner: createContainerOwner({ dataDir }), allowedMounts });
  // Docker may be away, and nobody should wait for it who does not need it.
  containers.reapLeftovers().then(
    (count) => count > 0 && warn(`${count} containers that an earlier Toolcrib left behind were removed`),
    () => undefined,
  );
  const { runRules, separateUser = false } = config;
  const { user, same_user: sameUser } = typeof runRules === 'object' ? runRules : { user: undefined, same_user: false };
  if (separateUser && sameUser) warn("same_user in the run rules: local servers run as the gateway's own user, and can read its keys");
  const gate = createRunGate({
    rules: runRules,
    allowedMounts,
    account: user === undefined ? null : openRunAccount(user, dataDir),
    sameUser: sameUser || !separateUser,
    watch: createResourceWatch(),
    path: process.env['PATH'],
  });
  const opening = {
    registry,
    gate,
    dockerEnvironment: docker,
    engine,
    egress,
    containers,
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
    releaseSource: ({ id }) => containers.release(id),
    onNotice: config.onSourceNotice,
    refreshPauses: config.refreshPauses,
    note: (sourceId, message) => logs.of(sourceId).append('event', message),
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
  const callStep = createStepCalls({ executor, keptCalls, store, durableCalls });
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

  const change = createMakeChange({ store, counter, acceptance });
  const runPermission = createRunPermission(config.runners);
  const scopeOf = createScopeOf({ secrets, allowedNames, allowedMounts, egress, pinning: config.pinning });
  const resources = opened.move();
  /** What was recorded in files that are gone is lost with this process, unless it is written elsewhere. */
  async function rescue(): Promise<void> {
    try {
      const folder = await rescueData({ database, dataDir, keyRing: config.keys === undefined ? keyRing : undefined });
      warn(`The data folder ${dataDir} is gone. What was in it was written to ${folder}: start the server with --data ${folder}`);
    } catch (error) {
      warn(`The data folder ${dataDir} is gone, and what was in it is lost: it could not be written elsewhere (${String(error)})`);
    }
  }
  const crib = {
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
    secrets: createSecretAdministration({
      secrets,
      async changed() {
        speakers.forget();
        await supervisor
          .secretsChanged()
          .catch((error: unknown) => warn(`Changed secrets could not be brought to what runs: ${String(error)}`));
      },
      keptBy: (name) =>
        [...counter.sources.values()].filter(({ id }) => supervisor.outdatedSecretsOf(id).includes(name)).map(({ namespace }) => namespace),
    }),
    groups: createGroupAdministration({ change }),
    policies: createPolicyAdministration({ change, development }),
    sources: createSourceAdministration({
      store,
      counter,
      supervisor,
      secrets,
      scopeOf,
      runPermission,
      gate,
      checkContainer: containers.check,
      change,
    }),
    previewSource: createSourcePreview({
      counter,
      secrets,
      scopeOf,
      runPermission,
      gate,
      change,
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
    }),
    runPermission,
    tools: createToolAdministration({ counter, change }),
    approvals: createApprovalAdministration({ store, counter, change }),
    refusals,
    connections: createConnectionAdministration({
      counter,
      supervisor,
      connections,
      speakers,
      publicUrl: config.publicUrl ?? 'http://127.0.0.1',
    }),
    wireLog: createWireLogAdministration({ wireLogs, change }),
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
      if (dataFolder?.isGone === true) await rescue();
      await resources.disposeAsync();
    },
  } satisfies Omit<Crib, 'configuration'>;
  return { ...crib, configuration: createConfigurationAdministration({ ...crib, scopeOf, development }) };
}

/** What comes with Toolcrib itself runs whenever Toolcrib does. */
function ownStatus(source: SourceRecord, counter: Counter): SourceStatus {
  if (!source.enabled) return { state: 'disabled' };
  const tools = counter.snapshot.tools.filter((tool) => tool.source_id === source.id && tool.state === 'active').length;
  return { state: 'running', tools };
}
