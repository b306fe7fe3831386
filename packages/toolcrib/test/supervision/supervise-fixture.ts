import { EndSwitch } from '../../src/model/end-signal.ts';
import { randomUUID } from 'node:crypto';
import { CribError } from '../../src/model/crib-error.ts';
import { mcpDefinitionSchema, type McpDefinition } from '../../src/model/mcp-definition.ts';
import type { SourceRecord, SourceStatus } from '../../src/model/source.ts';
import type { Tool } from '../../src/model/tool.ts';
import { openLocalSession } from '../../src/sources/mcp/open-local-session.ts';
import type { CallContext } from '../../src/sources/source.ts';
import { createSourceSupervisor } from '../../src/supervision/source-supervisor.ts';
import { fixture } from '../fixtures/open-server.ts';
import { processParts } from '../fixtures/mcp/start-fixture.ts';
import { processesMarked } from '../fixtures/process-table.ts';

/** What a definition says beyond its command. */
type DefinitionInput = Record<string, unknown>;

export function localSource(mode: string, overrides: DefinitionInput = {}): SourceRecord & { definition: McpDefinition } {
  const id = randomUUID();
  return {
    id,
    name: mode,
    namespace: mode,
    source_type: 'mcp',
    enabled: true,
    definition: mcpDefinitionSchema.parse({ command: fixture(...mode.split(' ')), ...overrides }),
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
    async open(source: SourceRecord & { definition: McpDefinition }, signal: AbortSignal) {
      const clientInfo = { name: 'toolcrib-tests', version: '1.0.0' };
      const { log, registry } = parts;
      const opened = await openLocalSession({ source, environment, priorEra: { kind: 'legacy' }, clientInfo, log, registry, signal });
      return opened.session;
    },
    living: () => processesMarked(marker).map(({ pid }) => pid),
    /** How many processes have been started so far. */
    starts: () => parts.log.tail(10_000).filter(({ text }) => /^Process \d+ .* started\.$/.test(text)).length,
    [Symbol.dispose]: () => parts[Symbol.dispose](),
  };
}

/** One supervised source with a real process behind it, stopped when it is disposed of. */
export function supervise(mode: string, overrides: DefinitionInput = {}) {
  const opener = createOpener();
  const source = localSource(mode, overrides);
  const statuses: SourceStatus[] = [];
  const supervisor = createSourceSupervisor({
    definition: source.definition,
    open: (signal) => opener.open(source, signal),
    revisionOf: async () => '',
    onDiscovered: async () => undefined,
    onStatus: (status) => void statuses.push(status),
    note: (message) => opener.log.append('event', message),
  });
  return {
    supervisor,
    statuses,
    ...opener,
    call: (name: string, args = {}, context: Partial<CallContext> = {}) =>
      supervisor.call({ definition: { name, annotations: null } } as unknown as Tool, args, { ...silentContext(), ...context }),
    async [Symbol.asyncDispose]() {
      await supervisor.stop('stopped');
      opener[Symbol.dispose]();
    },
  };
}

function silentContext(): CallContext {
  return {
    signal: new AbortController().signal,
    ending: new EndSwitch(),
    progress: () => undefined,
    log: () => undefined,
    elicit: () => Promise.reject(new CribError('INTERNAL', 'Nobody is asked here')),
  } as unknown as CallContext;
}
