import type { Inventory } from '../inventory/inventory.ts';
import { waitingTools } from '../inventory/waiting-tools.ts';
import { CribError } from '../model/crib-error.ts';
import type { BreakerState, SourceRecord, SourceStatus } from '../model/source.ts';
import type { Supervisor } from '../supervision/supervisor.ts';

/** Sources as administrators see them. */
export interface SourceReads {
  list(): SourceRecord[];
  /** By id or namespace. */
  find(reference: string): SourceRecord | undefined;
  /** Throws `NOT_FOUND` if there is no such source. */
  get(reference: string): SourceRecord;
  statusOf(source: SourceRecord): SourceStatus;
  stateOf(source: SourceRecord): SourceState;
}

type SourceState = ReturnType<typeof readState>;

interface SourceReadsInput {
  inventory: Inventory;
  supervisor: Supervisor;
  breakerOf(sourceId: string): BreakerState;
}

export function createSourceReads(input: SourceReadsInput): SourceReads {
  const { inventory, supervisor } = input;
  const find = (reference: string) =>
    inventory.sources.get(reference) ?? [...inventory.sources.values()].find(({ namespace }) => namespace === reference);
  const statusOf = (source: SourceRecord) => supervisor.statusOf(source.id) ?? ({ state: 'stopped' } as const);
  return {
    list: () => [...inventory.sources.values()],
    find,
    get(reference) {
      const source = find(reference);
      if (source === undefined) throw new CribError('NOT_FOUND', 'There is no such source');
      return source;
    },
    statusOf,
    stateOf: (source) => readState(input, source.id, statusOf(source)),
  };
}

/** The current state of a source. */
function readState({ inventory, supervisor, breakerOf }: SourceReadsInput, id: string, status: SourceStatus) {
  return {
    status,
    health: supervisor.healthOf(id),
    breaker: breakerOf(id),
    server: supervisor.infoOf(id),
    import: supervisor.importOf(id),
    waiting: waitingTools(inventory.snapshot).get(id) ?? 0,
    outdated_secrets: [...supervisor.outdatedSecretsOf(id)],
  };
}
