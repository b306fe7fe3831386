import type { CribConfig } from './crib-config.ts';
import { createCatalogue } from './execution/catalogue.ts';
import type { Executor } from './execution/executor.ts';
import type { RequestRate } from './resilience/request-rate.ts';
import type { Inventory } from './inventory/inventory.ts';
import { refreshSource } from './inventory/refresh-source.ts';
import { reportLines } from './inventory/report-lines.ts';
import { sourceTools } from './inventory/source-tools.ts';
import { toolChoice } from './inventory/tool-choice.ts';
import { createIsolation } from './isolation/isolation.ts';
import { CribError } from './model/crib-error.ts';
import type { RefreshReport } from './model/refresh-report.ts';
import type { SourceRecord, SourceStatus } from './model/source.ts';
import type { Egress } from './net/egress.ts';
import type { openUpstream } from './open-upstream.ts';
import type { SecretStore } from './secrets/secret-store.ts';
import { openKinds } from './sources/open-kinds.ts';
import type { CallTool, SourcePorts } from './sources/source-ports.ts';
import { createServerLogs } from './sources/upstream/logs/server-logs.ts';
import { createWireLogs } from './sources/upstream/logs/wire-logs.ts';
import type { Store } from './store/store.ts';
import { createSettling } from './supervision/settling.ts';
import { createSupervisor } from './supervision/supervisor.ts';
import { version } from './version.ts';

interface SourcesInput {
  store: Store;
  secrets: SecretStore;
  egress: Egress;
  inventory: Inventory;
  /** Limits searches: those through the built-in tools count like those through the API. */
  requestRate: RequestRate;
  upstream: ReturnType<typeof openUpstream>;
}

/** What sources need from later stages. Not used before the sources are started. */
export interface SourceSignals {
  /** [BI-2] Used by the built-in tools that find and call tools. */
  executor: Executor;
  /** [WF-1] Makes the call of a workflow step. */
  callStep: CallTool;
  statusChanged(sourceId: string, status: SourceStatus): void;
  /** Called when the tools of this source were refreshed. */
  refreshed(source: SourceRecord): void;
}

/** Everything that talks to sources and keeps them running. */
export async function openSources(config: CribConfig, input: SourcesInput, opened: AsyncDisposableStack) {
  const { store, secrets, egress, inventory, requestRate, upstream } = input;
  const { redactors, logs, wireLogs } = upstream;
  const reports = new Map<string, RefreshReport>();
  let signals: SourceSignals | undefined;
  function connected(): SourceSignals {
    if (signals === undefined) throw new CribError('SERVICE_UNAVAILABLE', 'The server is starting: try again');
    return signals;
  }
  const ports: SourcePorts = {
    settings: { ...config, version },
    egress,
    isolation: opened.adopt(createIsolation(), (processes) => processes.close()),
    tokens: { ...upstream, connections: upstream.connections.tokens },
    secrets,
    valuesOf: upstream.resolvingFor,
    logOf: logs.of,
    wireLogOf: wireLogs.of,
    documents: store.documents,
    tools: {
      of: (namespace) => sourceTools(inventory, namespace),
      callStep: (request, context) => connected().callStep(request, context),
      catalogue: createCatalogue({ inventory, executor: () => connected().executor, rate: requestRate }),
    },
  };
  const kinds = await openKinds(ports, opened);
  const supervisor = createSupervisor({
    open: (source, host) => kinds.of(source.source_type).open(source, host),
    async onDiscovered(source, discovered) {
      const chosen = discovered.filter(toolChoice(source.definition?.tools));
      const report = await refreshSource({ store, source, discovered: chosen, actor: 'system', now: Date.now() });
      reports.set(source.id, report);
      for (const line of reportLines(report, source)) logs.of(source.id).append('event', line);
      await inventory.reload(new Set(['tool']));
      connected().refreshed(source);
    },
    countTools: (sourceId) => inventory.snapshot.ofSource(sourceId).filter(({ state }) => state !== 'deprecated').length,
    onStatus: (sourceId, status) => connected().statusChanged(sourceId, status),
    observer: config.observer,
    note: (sourceId, message) => logs.of(sourceId).append('event', message),
    onReleased(sourceId) {
      redactors.forgetSource(sourceId);
      logs.forget(sourceId);
      wireLogs.forget(sourceId);
      reports.delete(sourceId);
    },
  });
  opened.defer(() => supervisor.shutdownAll());
  return {
    kinds,
    supervisor,
    settling: createSettling(supervisor),
    sourceOf: supervisor.sourceOf,
    reportOf: (sourceId: string) => reports.get(sourceId) ?? null,
    onSignals: (wired: SourceSignals) => void (signals = wired),
    ...createTrials(upstream),
  };
}

/** [SRC-8] Supports trying a source before it is saved, with unsaved secrets and logs that are discarded. */
function createTrials({ redactors, resolvingFor }: Pick<ReturnType<typeof openUpstream>, 'redactors' | 'resolvingFor'>) {
  return {
    trialOf: (sourceId: string, secrets: Pick<SecretStore, 'get'>) => ({
      values: { ...resolvingFor(sourceId), secrets },
      log: createServerLogs({ redactors }).of(sourceId),
      wireLog: createWireLogs({ redactors }).of(sourceId),
    }),
    onTried: (sourceId: string) => redactors.forgetSource(sourceId),
  };
}
