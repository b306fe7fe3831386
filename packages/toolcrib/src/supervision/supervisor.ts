import { CribError } from '../model/crib-error.ts';
import type { ImportSummary } from '../model/import-summary.ts';
import type { SourceHealth, SourceRecord, SourceStatus } from '../model/source.ts';
import type { DiscoveredTool } from '../model/tool.ts';
import type { OpenSource, SecretsFollowed, SessionCounts, SourceHost, SourceInfo } from '../sources/open-source.ts';
import type { Source } from '../sources/source.ts';
import type { Observer } from '../model/observer.ts';
import { Lifecycle } from './lifecycle.ts';
import { createOffersChanges, type OffersListener } from './offers-changes.ts';

export interface Supervisor {
  /** Takes a source under supervision, or replaces its definition with a newer one. Starts nothing. */
  adopt(source: SourceRecord): Promise<void>;
  /** [LIFE-3] Rejects with the reason if the source cannot be started; the status shows it too. */
  start(sourceId: string): Promise<void>;
  stop(sourceId: string): Promise<void>;
  restart(sourceId: string): Promise<void>;
  refresh(sourceId: string): Promise<void>;
  /** Supervises exactly these sources: adopts and starts new or changed ones in the background, and releases the rest. */
  follow(sources: ReadonlyMap<string, SourceRecord>): void;
  /** [INV-6] Starts this source again after its connection changed; without an id, all sources that wait for a connection. */
  reconnect(sourceId?: string): void;
  /** [ENV-1] Passes changed secrets to running sources. Resolves with the namespaces that took the new value or keep the old one. */
  secretsChanged(): Promise<{ renewed: string[]; kept: string[] }>;
  /** Secrets that have changed since the source was started with them. */
  outdatedSecretsOf(sourceId: string): readonly string[];
  /** [MCP-5] Closes the sessions opened with the credential of this user. */
  endSessionsOf(sourceId: string, owner: string): Promise<void>;
  /** Stops the source and forgets it. */
  release(sourceId: string): Promise<void>;
  shutdownAll(): Promise<void>;
  statusOf(sourceId: string): SourceStatus | undefined;
  healthOf(sourceId: string): SourceHealth;
  infoOf(sourceId: string): SourceInfo | null;
  /** [OAS-1] The outcome of importing the document of a source; null if it has none, or none was imported yet. */
  importOf(sourceId: string): ImportSummary | null;
  /** [OPS-1] Undefined for a source that is not supervised. */
  sessionsOf(sourceId: string): SessionCounts | undefined;
  sourceOf(sourceId: string): Source | undefined;
  /** [DOOR-5] Tells of lists beside the tools that have changed, until the returned function is called. */
  onOffersChanged(listener: OffersListener): () => void;
}

export interface SupervisorInput {
  /** Opens a source according to its kind. */
  open(source: SourceRecord, host: SourceHost): OpenSource;
  onDiscovered(source: SourceRecord, tools: DiscoveredTool[], info: SourceInfo): Promise<void>;
  /** How many tools of a source the inventory has. */
  countTools(sourceId: string): number;
  onStatus(sourceId: string, status: SourceStatus): void;
  observer?: Pick<Observer, 'sourceNoticed'> | undefined;
  note(sourceId: string, message: string): void;
  /** Called when the source has ended and everything kept for it can be dropped. */
  onReleased(sourceId: string): void;
}

/** [LIFE-8] Supervises all sources independently: none waits for another. */
export function createSupervisor(input: SupervisorInput): Supervisor {
  const supervised = new Map<string, Lifecycle>();
  const turns = new Map<string, Promise<void>>();
  const offers = createOffersChanges();
  let closed = false;

  function existing(sourceId: string): Lifecycle {
    const found = supervised.get(sourceId);
    if (found === undefined) throw new CribError('NOT_FOUND', 'There is no such source, or it cannot be started and stopped');
    return found;
  }

  /** Changes of one source run one after another: two at once would each start a server, and one of the servers would be lost. */
  function inTurn(sourceId: string, change: () => Promise<void>): Promise<void> {
    const before = turns.get(sourceId) ?? Promise.resolve();
    const turn = before
      .catch(() => undefined)
      .then(change)
      .finally(() => {
        if (turns.get(sourceId) === turn) turns.delete(sourceId);
      });
    turns.set(sourceId, turn);
    return turn;
  }

  /** Whether this version or a later one is supervised: updates may arrive out of order. */
  const isKnown = (source: SourceRecord) => (supervised.get(source.id)?.source.updated_at ?? -Infinity) >= source.updated_at;

  function lifecycleOf(source: SourceRecord): Lifecycle {
    return new Lifecycle({
      source,
      open: (host) => input.open(source, host),
      onDiscovered: (tools, info) => input.onDiscovered(source, tools, info),
      onOffersChanged: (what) => offers.tell(source.id, what),
      countTools: () => input.countTools(source.id),
      onStatus: (status) => input.onStatus(source.id, status),
      onNotice: (notice) => input.observer?.sourceNoticed(notice, source),
      note: (message) => input.note(source.id, message),
    });
  }

  async function replace(source: SourceRecord): Promise<void> {
    if (closed || isKnown(source)) return;
    await supervised.get(source.id)?.stop('stopped');
    const lifecycle = lifecycleOf(source);
    supervised.set(source.id, lifecycle);
    if (!source.enabled) await lifecycle.stop('disabled');
  }

  const release = (sourceId: string) =>
    inTurn(sourceId, async () => {
      const found = supervised.get(sourceId);
      supervised.delete(sourceId);
      await found?.stop('stopped');
      input.onReleased(sourceId);
    });

  /** Runs in the background, so that the next source does not wait; the status shows the outcome. */
  function takeOver(source: SourceRecord): void {
    const before = supervised.get(source.id);
    const taken = inTurn(source.id, async () => {
      // If the source was replaced meanwhile, that update was newer.
      if (supervised.get(source.id) === before) await replace(source);
    });
    void taken.then(() => (source.enabled ? existing(source.id).start({ persistent: true }) : undefined)).catch(() => undefined);
  }

  return {
    adopt: (source) => inTurn(source.id, () => replace(source)),
    follow(sources) {
      for (const id of supervised.keys()) if (!sources.has(id)) void release(id);
      for (const source of sources.values()) if (!isKnown(source)) takeOver(source);
    },
    async start(sourceId) {
      const lifecycle = existing(sourceId);
      // [MC-NT1] The status stays what it is.
      if (!lifecycle.source.enabled) throw new CribError('CONFLICT', 'The source is disabled: enable it first');
      if (!isRunning(lifecycle.status)) await lifecycle.start();
    },
    stop: (sourceId) => existing(sourceId).stop('stopped'),
    async restart(sourceId) {
      const lifecycle = existing(sourceId);
      if (!lifecycle.source.enabled) throw new CribError('CONFLICT', 'The source is disabled: enable it first');
      await lifecycle.stop('stopped');
      await lifecycle.start();
    },
    // Async, so that an unknown source rejects like a failed refresh.
    refresh: async (sourceId) => existing(sourceId).refresh(),
    reconnect(sourceId) {
      for (const lifecycle of supervised.values()) {
        const { source, status } = lifecycle;
        if (status.state === 'stopped') continue;
        const waits = source.definition?.credential.type === 'oauth' && waitsForConnection(status);
        if (source.enabled && (sourceId === undefined ? waits : sourceId === source.id)) void lifecycle.reconnect().catch(() => undefined);
      }
    },
    async secretsChanged() {
      const followed = await Promise.all(
        [...supervised.values()].map(async (lifecycle) => ({ source: lifecycle.source, how: await lifecycle.secretsChanged() })),
      );
      const namespacesOf = (wanted: SecretsFollowed) => followed.filter(({ how }) => how === wanted).map(({ source }) => source.namespace);
      return { renewed: namespacesOf('renewed'), kept: namespacesOf('kept') };
    },
    outdatedSecretsOf: (sourceId) => supervised.get(sourceId)?.outdatedSecrets ?? [],
    endSessionsOf: async (sourceId, owner) => supervised.get(sourceId)?.endSessionsOf(owner),
    release,
    async shutdownAll() {
      closed = true;
      await Promise.allSettled([...new Set([...supervised.keys(), ...turns.keys()])].map(release));
    },
    statusOf: (sourceId) => supervised.get(sourceId)?.status,
    healthOf: (sourceId) => supervised.get(sourceId)?.health ?? 'unknown',
    infoOf: (sourceId) => supervised.get(sourceId)?.info ?? null,
    importOf: (sourceId) => supervised.get(sourceId)?.imported ?? null,
    sessionsOf: (sourceId) => supervised.get(sourceId)?.sessions,
    sourceOf: (sourceId) => supervised.get(sourceId),
    onOffersChanged: offers.onOffersChanged,
  };
}

/** Without a connection, a source with per-user connections runs with a message; one with a shared connection is in error. */
function waitsForConnection(status: SourceStatus): boolean {
  return status.state === 'error' ? status.code === 'UNAUTHENTICATED' : status.state === 'running' && !isRunning(status);
}

/** Runs with nothing missing. */
function isRunning(status: SourceStatus): boolean {
  return status.state === 'running' && status.message === undefined;
}
