import { EndSwitch } from '../../src/model/end-signal.ts';
import { randomUUID } from 'node:crypto';
import { CribError } from '../../src/model/crib-error.ts';
import { EngineUnavailableError } from '../../src/model/named-errors.ts';
import { mcpDefinitionSchema, type McpDefinition } from '../../src/sources/mcp/mcp-definition.ts';
import type { DefinedSource, SourceStatus } from '../../src/model/source.ts';
import type { Tool } from '../../src/model/tool.ts';
import { openLocalSession } from '../../src/sources/mcp/open-local-session.ts';
import { startServerProcess } from '../../src/sources/mcp/process/server-process.ts';
import type { CallContext } from '../../src/sources/source.ts';
import type { SourceNotice } from '../../src/model/observer.ts';
import { McpSource } from '../../src/sources/mcp/mcp-source.ts';
import { Lifecycle } from '../../src/supervision/lifecycle.ts';
import { fixture } from '../fixtures/open-server.ts';
import { processParts } from '../fixtures/mcp/start-fixture.ts';
import { processesMarked } from '../fixtures/process-table.ts';

type LocalSource = DefinedSource<McpDefinition>;

/** The fields of a definition beyond its command. */
type DefinitionInput = Record<string, unknown>;

export function localSource(mode: string, overrides: DefinitionInput = {}): LocalSource {
  const id = randomUUID();
  return {
    id,
    name: mode,
    namespace: mode,
    source_type: 'mcp',
    enabled: true,
    definition: mcpDefinitionSchema.parse({ command: fixture(...mode.split(' ')), ...overrides }),
    managed_by: null,
    created_at: 1,
    updated_at: 1,
  };
}

/** Opens real processes of a source, all of which carry a mark in their environment. */
export function createOpener() {
  const parts = processParts({ maxLines: 10_000 });
  const marker = randomUUID();
  const environment = { ...parts.env, MARKER: marker };
  return {
    log: parts.log,
    async open(source: LocalSource, signal: AbortSignal) {
      const clientInfo = { name: 'toolcrib-tests', version: '1.0.0' };
      const { log, registry } = parts;
      const { command, cwd } = source.definition;
      const start = ({ later }: { later: boolean }) => startServerProcess({ command, cwd, env: environment, log, registry, later });
      const opened = await openLocalSession({ source, start, priorEra: { kind: 'legacy' }, clientInfo, log, signal });
      return opened.session;
    },
    living: () => processesMarked(marker).map(({ pid }) => pid),
    /** How many processes have been started so far. */
    starts: () => parts.log.tail(10_000).filter(({ text }) => /^Process \d+ .* started\.$/.test(text)).length,
    [Symbol.dispose]: () => parts[Symbol.dispose](),
  };
}

/** The container engine as an opener sees it: while it is away, nothing can be opened. */
export function createEngine() {
  let tries = 0;
  return {
    away: false,
    /** How often it was tried in vain. */
    tries: () => tries,
    reach() {
      if (!this.away) return;
      tries++;
      throw new EngineUnavailableError('Docker not running. Start it.');
    },
  };
}

/** One supervised source with a real process behind it, stopped when it is disposed of. */
export function supervise(mode: string, overrides: DefinitionInput = {}) {
  const opener = createOpener();
  const engine = createEngine();
  const source = localSource(mode, overrides);
  const statuses: SourceStatus[] = [];
  const notices: SourceNotice[] = [];
  /** How many processes there were whenever it was let go of as a whole. */
  const releases: number[] = [];
  const supervisor = new Lifecycle({
    source,
    open: (host) =>
      new McpSource({
        definition: source.definition,
        host,
        async open(signal) {
          engine.reach();
          return opener.open(source, signal);
        },
        release: async () => void releases.push(opener.living().length),
        enginePauseMs: 1,
        sessionKeyOf: async ({ key }) => ({ owner: key, key, revision: '', until: Number.POSITIVE_INFINITY }),
      }),
    enginePauseMs: 1,
    onNotice: (notice) => void notices.push(notice),
    onDiscovered: async () => undefined,
    countTools: () => 0,
    onStatus: (status) => void statuses.push(status),
    note: (message) => opener.log.append('event', message),
  });
  return {
    supervisor,
    engine,
    statuses,
    notices,
    releases,
    notes: () => opener.log.tail(10_000).flatMap(({ stream, text }) => (stream === 'event' ? [text] : [])),
    ...opener,
    call: async (name: string, args = {}, context: Partial<CallContext> = {}) =>
      supervisor.call({ definition: { name, annotations: null } } as unknown as Tool, args, { ...silentContext(), ...context }),
    async [Symbol.asyncDispose]() {
      await supervisor.stop('stopped');
      opener[Symbol.dispose]();
    },
  };
}

function silentContext(): CallContext {
  return {
    signal: new EndSwitch(),
    progress: () => undefined,
    log: () => undefined,
    elicit: () => Promise.reject(new CribError('INTERNAL', 'Nobody is asked here')),
  } as unknown as CallContext;
}
