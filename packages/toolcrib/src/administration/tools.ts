import type { Counter } from '../inventory/counter.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import { toolOverridesSchema, type Tool, type ToolOverridesChange } from '../model/tool.ts';
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
        const given = Object.entries({ ...record.overrides, ...changes }).filter(([, value]) => value !== null && value !== undefined);
        const overrides = toolOverridesSchema.parse(Object.fromEntries(given));
        await tx.tools.setOverrides(toolId, overrides, Date.now());
        return { before: record.overrides, after: overrides };
      });
      const tool = counter.snapshot.find(toolId);
      if (tool === undefined) throw new CribError('NOT_FOUND', 'There is no such tool');
      return tool;
    },
  };
}
