import type { Inventory } from '../inventory/inventory.ts';
import { approve, isWaiting } from '../inventory/pinning.ts';
import { toolDifference, type ToolDifference } from '../inventory/tool-difference.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { SourceRecord } from '../model/source.ts';
import type { ToolRecord } from '../model/tool.ts';
import type { Store } from '../store/store.ts';
import type { MakeChange } from './change-log.ts';

/** [INV-3] An approval names the hash of the definition that was reviewed: a definition that has changed since is not approved. */
export interface ApprovalAdministration {
  differenceOf(toolId: string): Promise<ToolDifference>;
  /** Tools that wait for approval, sorted by name. */
  waitingOf(source: SourceRecord): Promise<ToolDifference[]>;
  approveTool(actor: Principal, toolId: string, definitionHash: string): Promise<ToolDifference>;
  /** Approves all the given tools, or none. */
  approveSource(actor: Principal, source: SourceRecord, definitionHashes: Readonly<Record<string, string>>): Promise<void>;
}

interface ApprovalAdministrationInput {
  store: Store;
  inventory: Inventory;
  change: MakeChange;
}

export function createApprovalAdministration({ store, inventory, change }: ApprovalAdministrationInput): ApprovalAdministration {
  async function differenceOf(toolId: string): Promise<ToolDifference> {
    const record = existing(await store.tools.get(toolId));
    const source = inventory.sources.get(record.source_id);
    if (source === undefined) throw new CribError('NOT_FOUND', 'There is no such tool');
    return toolDifference(record, source);
  }

  return {
    differenceOf,
    async waitingOf(source) {
      const records = await store.tools.listBySource(source.id);
      const waiting = records.filter((record) => isWaiting(record) && record.state !== 'deprecated');
      // SQLite and PostgreSQL sort text differently.
      return waiting.map((record) => toolDifference(record, source)).sort((a, b) => (a.upstream_name < b.upstream_name ? -1 : 1));
    },
    async approveTool(actor, toolId, definitionHash) {
      await change(actor, { kind: 'tool-approved', topic: 'tool', subject: toolId }, async (tx) => {
        const record = existing(await tx.tools.get(toolId));
        refuseUnseen(record, definitionHash, 'definition_hash');
        const after = approve(record, Date.now());
        await tx.tools.upsertMany([after]);
        return { before: recorded(record), after: recorded(after) };
      });
      return differenceOf(toolId);
    },
    async approveSource(actor, source, definitionHashes) {
      await change(actor, { kind: 'source-approved', topic: 'tool', subject: source.id }, async (tx) => {
        const records = new Map((await tx.tools.listBySource(source.id)).map((record) => [record.tool_id, record]));
        const now = Date.now();
        const changes = Object.entries(definitionHashes).map(([toolId, definitionHash]) => {
          const before = existing(records.get(toolId));
          refuseUnseen(before, definitionHash, `definition_hashes.${toolId}`);
          return { before, after: approve(before, now) };
        });
        await tx.tools.upsertMany(changes.map(({ after }) => after));
        return { before: changes.map(({ before }) => recorded(before)), after: changes.map(({ after }) => recorded(after)) };
      });
    },
  };
}

function existing(record: ToolRecord | undefined): ToolRecord {
  if (record === undefined) throw new CribError('NOT_FOUND', 'There is no such tool');
  return record;
}

function refuseUnseen(record: ToolRecord, definitionHash: string, field: string): void {
  if (record.definition_hash === definitionHash) return;
  const { name } = record.discovered.definition;
  throw new CribError('CONFLICT', `The definition of ${name} has changed since: review the difference again`, { field });
}

/** Only the hashes: they identify the approved definition, which can be long. */
function recorded({ tool_id, discovered, state, approved_hash }: ToolRecord) {
  return { tool_id, name: discovered.definition.name, state, approved_hash };
}
