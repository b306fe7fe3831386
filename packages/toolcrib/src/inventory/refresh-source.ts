import { CribError } from '../model/crib-error.ts';
import type { SourceRecord } from '../model/source.ts';
import type { DiscoveredTool, ToolRecord } from '../model/tool.ts';
import type { Store } from '../store/store.ts';
import { canonicalJson, definitionHash } from './definition-hash.ts';
import { modelName } from './model-name.ts';
import { toolId } from './tool-id.ts';

/** [INV-2] What a refresh found, by tool name. */
export interface Difference {
  added: string[];
  changed: string[];
  removed: string[];
}

interface RefreshInput {
  store: Store;
  source: SourceRecord;
  discovered: readonly DiscoveredTool[];
  actor: string;
  now: number;
}

/** Makes the stored tools of a source what was discovered; vanished ones are kept as `deprecated`. Unchanged tools are not written. */
export async function refreshSource({ store, source, discovered, actor, now }: RefreshInput): Promise<Difference> {
  refuseDuplicates(source, discovered);
  const known = new Map((await store.tools.listBySource(source.id)).map((record) => [record.tool_id, record]));
  const difference: Difference = { added: [], changed: [], removed: [] };
  const toWrite: ToolRecord[] = [];

  for (const found of discovered) {
    const tool_id = toolId(source.id, found.definition.name);
    const before = known.get(tool_id);
    known.delete(tool_id);
    const definition_hash = definitionHash(found.definition);
    const unchanged = before?.state === 'active' && canonicalJson(before.discovered) === canonicalJson(found);
    if (unchanged) continue;
    (before === undefined || before.state === 'deprecated' ? difference.added : difference.changed).push(found.definition.name);
    toWrite.push({
      tool_id,
      source_id: source.id,
      discovered: found,
      definition_hash,
      state: 'active',
      overrides: before?.overrides ?? {},
      created_at: before?.created_at ?? now,
      updated_at: now,
    });
  }
  for (const vanished of known.values()) {
    if (vanished.state === 'deprecated') continue;
    difference.removed.push(vanished.discovered.definition.name);
    toWrite.push({ ...vanished, state: 'deprecated', updated_at: now });
  }

  if (toWrite.length > 0) {
    const after = { added: difference.added, changed: difference.changed, removed: difference.removed };
    await store.change({ kind: 'source-refreshed', topic: 'tool', subject: source.id, actor, before: null, after }, (tx) =>
      tx.tools.upsertMany(toWrite),
    );
  }
  return difference;
}

/** Two tools that a caller or a model could not tell apart would let one answer for the other. */
function refuseDuplicates(source: SourceRecord, discovered: readonly DiscoveredTool[]): void {
  const seen = new Map<string, string>();
  for (const { definition } of discovered) {
    const shown = modelName(source.namespace, definition.name).toLowerCase();
    const twin = seen.get(shown);
    if (twin !== undefined)
      throw new CribError('CONFLICT', `Source ${source.name} has two tools with one name: ${twin} and ${definition.name}`);
    seen.set(shown, definition.name);
  }
}
