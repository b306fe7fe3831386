import { CribError } from '../model/crib-error.ts';
import type { ImportSummary } from '../model/import-summary.ts';
import type { Principal } from '../model/principal.ts';
import type { SourceHealth, SourceRecord, SourceStatus } from '../model/source.ts';
import type { DiscoveredTool } from '../model/tool.ts';
import type { McpServerInfo, McpSession } from '../sources/mcp/mcp-session.ts';
import type { Standing } from '../sources/upstream/standing.ts';
import type { Source } from '../sources/source.ts';
import { createDocumentSupervisor, type DocumentSupervisorInput } from './document-supervisor.ts';
import type { Pauses } from './paced.ts';
import type { SecretsFollowed } from './secret-changes.ts';
import type { SessionCounts } from './session-counts.ts';
import type { SourceNotice } from './source-notice.ts';
import { createSourceSupervisor, type SourceSupervisor } from './source-supervisor.ts';

export interface Supervisor {
  /** Takes a source under supervision, or its new definition in place of the old one. Nothing is started by it. */
  adopt(source: SourceRecord): Promise<void>;
  /** [LIFE-3] Rejects with why it could not be started; its status says the same. */
  start(sourceId: string): Promise<void>;
  stop(sourceId: string): Promise<void>;
  restart(sourceId: string): Promise<void>;
  refresh(sourceId: string): Promise<void>;
  /** Makes the supervised sources these: what is new or changed is adopted and started in the background, what is gone is released. */
  follow(sources: ReadonlyMap<string, SourceRecord>): void;
  /** [INV-6] Starts again what waits for a connection, or had one that has changed: of this source, or of all. */
  reconnect(sourceId?: string): void;
  /** [ENV-1] Brings changed secrets to what runs; gives the namespaces of those that go on with the new value, or keep the old one. */
  secretsChanged(): Promise<{ renewed: string[]; kept: string[] }>;
  /** Secrets that have another value than the one with which the source runs. */
  outdatedSecretsOf(sourceId: string): readonly string[];
  /** [MCP-5] Closes what was opened with the credential of this user. */
  endSessionsOf(sourceId: string, owner: string): Promise<void>;
  /** Ends it and forgets it. */
  release(sourceId: string): Promise<void>;
  shutdownAll(): Promise<void>;
  statusOf(sourceId: string): SourceStatus | undefined;
  healthOf(sourceId: string): SourceHealth;
  infoOf(sourceId: string): McpServerInfo | null;
  /** [OAS-1] What became of the document that describes a source; null where none does, or none was imported yet. */
  importOf(sourceId: string): ImportSummary | null;
  /** [OPS-1] Undefined for what is not supervised. */
  sessionsOf(sourceId: string): SessionCounts | undefined;
  sourceOf(sourceId: string): Source | undefined;
}

export interface SupervisorInput {
  openSession(source: SourceRecord, signal: AbortSignal, principal?: Principal): Promise<McpSession>;
  /** Which credential a caller has for a source where each has their own; throws where there is none. */
  standingOf(source: SourceRecord, principal: Principal): Standing | Promise<Standing>;
  onDiscovered(source: SourceRecord, tools: DiscoveredTool[], info: McpServerInfo): Promise<void>;
  /** [SRC-5] What sources need that a document describes; without it there are none. */
  documents?: DocumentPort;
  /** Lets go of what was made for the source as a whole: nothing of it is open, and none is opened before this has ended. Never between restarts. */
  releaseSource?(source: SourceRecord): Promise<void>;
  onStatus(sourceId: string, status: SourceStatus): void;
  /** Told what befell it, for metrics. */
  onNotice?(notice: SourceNotice, source: SourceRecord): void;
  note(sourceId: string, message: string): void;
  /** The last line a source wrote to standard error since then, in epoch milliseconds. */
  saidSince?(sourceId: string, time: number): string | undefined;
  /** The image that is fetched for a source at the moment. */
  pullingOf?(sourceId: string): string | undefined;
  /** How long a source is left alone whose tools keep changing; as usual where it is left out. */
  refreshPauses?: Pauses | undefined;
  /** Nothing of it is left, and nothing need be kept for it. */
  onReleased(sourceId: string): void;
}

export type DocumentPort = Pick<DocumentSupervisorInput, 'documents' | 'load' | 'importSource' | 'openCalls'> & {
  countTools(sourceId: string): number;
};

interface Supervised {
  source: SourceRecord;
  supervisor: SourceSupervisor;
  port: Source;
}

/** [LIFE-8] All supervised sources, each on its own: none waits for another. */
export function createSupervisor(input: SupervisorInput): Supervisor {
  const supervised = new Map<string, Supervised>();
  const turns = new Map<string, Promise<void>>();
  let closed = false;

  function existing(sourceId: string): Supervised {
    const found = supervised.get(sourceId);
    if (found === undefined) throw new CribError('NOT_FOUND', 'There is no such source, or it cannot be started and stopped');
    return found;
  }

  /** One change of a source after the other: two at once would each start a server of their own, and one would be forgotten. */
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

  /** This one, or a later one: news may come out of turn. */
  const isKnown = (source: SourceRecord) => (supervised.get(source.id)?.source.updated_at ?? -Infinity) >= source.updated_at;

  /** The one place that knows what keeps a source of each type; undefined for what runs by itself. */
  function supervisorOf(source: SourceRecord): SourceSupervisor | undefined {
    const told = {
      onDiscovered: (tools: DiscoveredTool[], info: McpServerInfo) => input.onDiscovered(source, tools, info),
      onStatus: (status: SourceStatus) => input.onStatus(source.id, status),
      note: (message: string) => input.note(source.id, message),
    };
    switch (source.source_type) {
      case 'mcp':
        return createSourceSupervisor({
          ...told,
          definition: source.definition,
          open: (signal, principal) => input.openSession(source, signal, principal),
          standingOf: (principal) => input.standingOf(source, principal),
          release: async () => input.releaseSource?.(source),
          saidSince: (time) => input.saidSince?.(source.id, time),
          pulling: () => input.pullingOf?.(source.id),
          onNotice: (notice) => input.onNotice?.(notice, source),
          refreshPauses: input.refreshPauses,
        });
      case 'openapi':
      case 'workflow': {
        const port = input.documents;
        return port && createDocumentSupervisor({ ...told, ...port, source, countTools: () => port.countTools(source.id) });
      }
      case 'builtin':
        return undefined;
    }
  }

  async function replace(source: SourceRecord): Promise<void> {
    if (closed || isKnown(source)) return;
    await supervised.get(source.id)?.supervisor.stop('stopped');
    const supervisor = supervisorOf(source);
    if (supervisor === undefined) return;
    supervised.set(source.id, { source, supervisor, port: portOf(supervisor) });
    if (!source.enabled) await supervisor.stop('disabled');
  }

  const release = (sourceId: string) =>
    inTurn(sourceId, async () => {
      const found = supervised.get(sourceId);
      supervised.delete(sourceId);
      await found?.supervisor.stop('stopped');
      input.onReleased(sourceId);
    });

  /** Its status says how it goes. Nobody waits for it, least of all the next source. */
  function takeOver(source: SourceRecord): void {
    const before = supervised.get(source.id);
    const taken = inTurn(source.id, async () => {
      // Whoever came first had newer news.
      if (supervised.get(source.id) === before) await replace(source);
    });
    void taken.then(() => (source.enabled ? existing(source.id).supervisor.start({ persistent: true }) : undefined)).catch(() => undefined);
  }

  return {
    adopt: (source) => inTurn(source.id, () => replace(source)),
    follow(sources) {
      for (const id of supervised.keys()) if (!sources.has(id)) void release(id);
      for (const source of sources.values()) if (source.definition !== null && !isKnown(source)) takeOver(source);
    },
    async start(sourceId) {
      const { source, supervisor } = existing(sourceId);
      // [MC-NT1] The status stays what it is.
      if (!source.enabled) throw new CribError('CONFLICT', 'The source is disabled: enable it first');
      if (!isRunning(supervisor.status)) await supervisor.start();
    },
    stop: (sourceId) => existing(sourceId).supervisor.stop('stopped'),
    async restart(sourceId) {
      const { source, supervisor } = existing(sourceId);
      if (!source.enabled) throw new CribError('CONFLICT', 'The source is disabled: enable it first');
      await supervisor.stop('stopped');
      await supervisor.start();
    },
    // Whoever asks in passing hears of an unknown source in the same way as of one that fails.
    refresh: async (sourceId) => existing(sourceId).supervisor.refresh(),
    reconnect(sourceId) {
      for (const { source, supervisor } of supervised.values()) {
        if (supervisor.status.state === 'stopped') continue;
        const waits = source.definition?.credential.type === 'oauth' && waitsForConnection(supervisor.status);
        if (source.enabled && (sourceId === undefined ? waits : sourceId === source.id)) void supervisor.reconnect().catch(() => undefined);
      }
    },
    async secretsChanged() {
      const followed = await Promise.all(
        [...supervised.values()].map(async ({ source, supervisor }) => ({ source, how: await supervisor.secretsChanged() })),
      );
      const those = (wanted: SecretsFollowed) => followed.filter(({ how }) => how === wanted).map(({ source }) => source.namespace);
      return { renewed: those('renewed'), kept: those('kept') };
    },
    outdatedSecretsOf: (sourceId) => supervised.get(sourceId)?.supervisor.outdatedSecrets ?? [],
    endSessionsOf: async (sourceId, owner) => supervised.get(sourceId)?.supervisor.endSessionsOf(owner),
    release,
    async shutdownAll() {
      closed = true;
      await Promise.allSettled([...new Set([...supervised.keys(), ...turns.keys()])].map(release));
    },
    statusOf: (sourceId) => supervised.get(sourceId)?.supervisor.status,
    healthOf: (sourceId) => supervised.get(sourceId)?.supervisor.health ?? 'unknown',
    infoOf: (sourceId) => supervised.get(sourceId)?.supervisor.info ?? null,
    importOf: (sourceId) => supervised.get(sourceId)?.supervisor.imported ?? null,
    sessionsOf: (sourceId) => supervised.get(sourceId)?.supervisor.sessions,
    sourceOf: (sourceId) => supervised.get(sourceId)?.port,
  };
}

/** Where each user has their own it runs without one; where all share one it does not. */
function waitsForConnection(status: SourceStatus): boolean {
  return status.state === 'error' ? status.code === 'UNAUTHENTICATED' : status.state === 'running' && !isRunning(status);
}

/** Without anything wanting. */
function isRunning(status: SourceStatus): boolean {
  return status.state === 'running' && status.message === undefined;
}

function portOf(supervisor: SourceSupervisor): Source {
  return {
    call: (tool, args, context) => supervisor.call(tool, args, context),
    close: () => supervisor.stop('stopped'),
  };
}
