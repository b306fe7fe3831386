import { CribError } from '../model/crib-error.ts';
import type { SourceRecord } from '../model/source.ts';
import type { Store } from '../store/store.ts';

/** The same on every server, so that replicas on one database agree. */
export const builtinSourceId = '00000000-0000-4000-8000-000000000001';

/** The source of the built-in tools, registered with the first start. */
export async function registerBuiltin(store: Store): Promise<SourceRecord> {
  const now = Date.now();
  const known = await store.sources.get(builtinSourceId);
  const source: SourceRecord = known ?? {
    id: builtinSourceId,
    name: 'Built-in tools',
    namespace: 'builtin',
    source_type: 'builtin',
    enabled: true,
    definition: null,
    managed_by: null,
    created_at: now,
    updated_at: now,
  };
  if (known === undefined) {
    const change = {
      kind: 'source-created',
      topic: 'source',
      subject: source.id,
      actor: 'system',
      before: null,
      after: { ...source },
    } as const;
    await store
      .change(change, async (tx) => {
        if ((await tx.sources.get(source.id)) !== undefined) throw new CribError('CONFLICT', 'The built-in tools are registered already');
        await tx.sources.upsert(source);
      })
      .catch((error: unknown) => {
        // Another server on the same database may have been faster.
        if (!(error instanceof CribError && error.code === 'CONFLICT')) throw error;
      });
  }
  return source;
}
