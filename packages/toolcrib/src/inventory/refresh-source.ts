import { CribError } from '../model/crib-error.ts';
import type { Json } from '../model/json.ts';
import type { RefreshReport } from '../model/refresh-report.ts';
import type { SourceRecord } from '../model/source.ts';
import type { DiscoveredTool } from '../model/tool.ts';
import type { Store, StoreNouns } from '../store/store.ts';
import { canonicalJson } from '../model/canonical-json.ts';
import { modelName } from './model-name.ts';
import { planRefresh } from './plan-refresh.ts';

interface RefreshInput {
  store: Store;
  source: SourceRecord;
  discovered: readonly DiscoveredTool[];
  actor: string;
  now: number;
}

/** Updates the stored tools of a source to the discovered ones; missing ones are kept as `deprecated`. Unchanged tools are not written. */
export async function refreshSource({ store, source, discovered, actor, now }: RefreshInput): Promise<RefreshReport> {
  refuseDuplicates(source, discovered);
  const plan = async (nouns: StoreNouns) => planRefresh({ source, known: await nouns.tools.listBySource(source.id), discovered, now });
  const first = await plan(store);
  if (first.toWrite.length === 0) return first.report;

  let { report } = first;
  const change = { kind: 'source-refreshed', topic: 'tool' as const, subject: source.id, actor, before: null, after: null as Json };
  await store.change(change, async (tx) => {
    // Read again within the transaction: an older reading must not undo an approval or a rename that was just made.
    refuseReplaced(source, await tx.sources.get(source.id));
    const current = await plan(tx);
    ({ report } = current);
    change.after = report;
    await tx.tools.upsertMany(current.toWrite);
  });
  return report;
}

/** Tools that an outdated definition discovered would be pinned, chosen and shown by outdated rules. */
function refuseReplaced({ name, definition }: SourceRecord, current: SourceRecord | undefined): void {
  if (current !== undefined && canonicalJson(current.definition) === canonicalJson(definition)) return;
  throw new CribError('CONFLICT', `${name} was changed or removed while its tools were listed: they are listed again when it is started`);
}

/** If a caller or a model could not tell two tools apart, one could answer for the other. */
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
