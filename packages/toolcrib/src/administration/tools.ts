import { definitionFlags } from '../inventory/definition-flags.ts';
import { escapeHidden } from '../inventory/hidden-characters.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { nameKeys } from '../inventory/name-keys.ts';
import { CribError } from '../model/crib-error.ts';
import type { DefinitionFlag } from '../model/definition-flag.ts';
import type { Principal } from '../model/principal.ts';
import { toolOverridesSchema, type Tool, type ToolOverrides, type ToolOverridesChange, type ToolRecord } from '../model/tool.ts';
import type { StoreNouns } from '../store/store.ts';
import type { MakeChange } from './change-log.ts';

export interface ToolAdministration {
  /** Tools of all sources, in every state, sorted by name. */
  list(): readonly Tool[];
  /** By id or name. */
  find(reference: string): Tool | undefined;
  /** Throws `NOT_FOUND` if there is no such tool. */
  get(reference: string): Tool;
  /** The ids of the groups the tool belongs to. */
  groupsOf(tool: Tool): string[];
  /** Suspicious parts of its definition. */
  flagsOf(tool: Tool): readonly DefinitionFlag[];
  /** [INV-5] Sets the given fields and removes those that are null; all other fields stay. */
  override(actor: Principal, toolId: string, changes: ToolOverridesChange): Promise<Tool>;
}

interface ToolAdministrationInput {
  inventory: Inventory;
  change: MakeChange;
  /** Why the input schema of a tool is unusable, so that nobody can call it; undefined if it is usable. */
  unusableSchema(tool: Tool): string | undefined;
}

export function createToolAdministration({ inventory, change, unusableSchema }: ToolAdministrationInput): ToolAdministration {
  function get(reference: string): Tool {
    const tool = inventory.find(reference);
    if (tool === undefined) throw new CribError('NOT_FOUND', 'There is no such tool');
    return tool;
  }

  return {
    list: () => inventory.snapshot.tools,
    find: inventory.find,
    get,
    groupsOf: (tool) => [...inventory.rules.groups].filter(([, belongs]) => belongs(tool)).map(([id]) => id),
    flagsOf(tool) {
      const flags = definitionFlags(tool.definition);
      const unusable = unusableSchema(tool);
      if (unusable === undefined || flags.some(({ kind }) => kind === 'unusable_schema')) return flags;
      // Discovered when the tool was called; a schema that is too large is flagged without a call.
      return [{ kind: 'unusable_schema', at: '/input_schema', excerpt: escapeHidden(unusable) }, ...flags];
    },
    async override(actor, toolId, changes) {
      await change(actor, { kind: 'tool-overridden', topic: 'tool', subject: toolId }, async (tx) => {
        const record = await tx.tools.get(toolId);
        if (record === undefined) throw new CribError('NOT_FOUND', 'There is no such tool');
        const overrides = applied(record, changes);
        if (shownName(record, overrides) !== shownName(record)) await refuseTakenName(tx, record, shownName(record, overrides));
        await tx.tools.setOverrides(toolId, overrides, Date.now());
        return { before: record.overrides, after: overrides };
      });
      return get(toolId);
    },
  };
}

function applied({ overrides, discovered }: ToolRecord, changes: ToolOverridesChange): ToolOverrides {
  const all = { ...overrides, ...changes };
  // An empty name, or the original one, removes the override.
  if (all.rename === '' || all.rename === discovered.definition.name) all.rename = null;
  const given = Object.entries(all).filter(([, value]) => value !== null && value !== undefined);
  return toolOverridesSchema.parse(Object.fromEntries(given));
}

function shownName({ discovered, overrides }: ToolRecord, { rename }: ToolOverrides = overrides): string {
  return rename ?? discovered.definition.name;
}

/** [NAME-3] The names of tools that have vanished stay taken: the tools may come back. */
async function refuseTakenName(tx: StoreNouns, { tool_id, source_id }: ToolRecord, name: string): Promise<void> {
  const source = await tx.sources.get(source_id);
  if (source === undefined) return;
  const others = (await tx.tools.listBySource(source_id)).filter((other) => other.tool_id !== tool_id);
  const keys = new Set(nameKeys(source, name));
  const twin = others.find((other) => nameKeys(source, shownName(other)).some((key) => keys.has(key)));
  if (twin === undefined) return;
  const message = `Another tool of ${source.name} is already named ${shownName(twin)}: choose another name, or rename that tool first`;
  throw new CribError('CONFLICT', message, { field: 'rename' });
}
