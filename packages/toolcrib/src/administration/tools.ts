import type { Counter } from '../inventory/counter.ts';
import { nameKeys } from '../inventory/name-keys.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import { toolOverridesSchema, type Tool, type ToolOverrides, type ToolOverridesChange, type ToolRecord } from '../model/tool.ts';
import type { StoreNouns } from '../store/store.ts';
import type { MakeChange } from './change-log.ts';

export interface ToolAdministration {
  /** [INV-5] Replaces the fields that are given and takes away those that are null; the others stay as they are. */
  override(actor: Principal, toolId: string, changes: ToolOverridesChange): Promise<Tool>;
}

interface ToolAdministrationInput {
  counter: Counter;
  change: MakeChange;
}

export function createToolAdministration({ counter, change }: ToolAdministrationInput): ToolAdministration {
  return {
    async override(actor, toolId, changes) {
      await change(actor, { kind: 'tool-overridden', topic: 'tool', subject: toolId }, async (tx) => {
        const record = await tx.tools.get(toolId);
        if (record === undefined) throw new CribError('NOT_FOUND', 'There is no such tool');
        const overrides = applied(record, changes);
        if (shownName(record, overrides) !== shownName(record)) await refuseTakenName(tx, record, shownName(record, overrides));
        await tx.tools.setOverrides(toolId, overrides, Date.now());
        return { before: record.overrides, after: overrides };
      });
      const tool = counter.snapshot.find(toolId);
      if (tool === undefined) throw new CribError('NOT_FOUND', 'There is no such tool');
      return tool;
    },
  };
}

function applied({ overrides, discovered }: ToolRecord, changes: ToolOverridesChange): ToolOverrides {
  const all = { ...overrides, ...changes };
  // No name, or the one it has anyway.
  if (all.rename === '' || all.rename === discovered.definition.name) all.rename = null;
  const given = Object.entries(all).filter(([, value]) => value !== null && value !== undefined);
  return toolOverridesSchema.parse(Object.fromEntries(given));
}

function shownName({ discovered, overrides }: ToolRecord, { rename }: ToolOverrides = overrides): string {
  return rename ?? discovered.definition.name;
}

/** [NAME-3] Also a tool that has vanished keeps its name: it may come back. */
async function refuseTakenName(tx: StoreNouns, { tool_id, source_id }: ToolRecord, name: string): Promise<void> {
  const source = await tx.sources.get(source_id);
  if (source === undefined) return;
  const others = (await tx.tools.listBySource(source_id)).filter((other) => other.tool_id !== tool_id);
  const keys = new Set(nameKeys(source, name));
  const twin = others.find((other) => nameKeys(source, shownName(other)).some((key) => keys.has(key)));
  if (twin === undefined) return;
  const message = `Another tool of ${source.name} is shown as ${shownName(twin)}: choose another name, or rename that one first`;
  throw new CribError('CONFLICT', message, { field: 'rename' });
}
