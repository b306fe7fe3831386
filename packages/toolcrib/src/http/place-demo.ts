import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { laterThan } from '../administration/later-than.ts';
import type { Crib } from '../crib.ts';
import { CribError } from '../model/crib-error.ts';
import type { Json } from '../model/json.ts';
import { mcpDefinitionSchema } from '../model/mcp-definition.ts';
import type { SourceRecord } from '../model/source.ts';

/** The same everywhere, so that it is known again, whatever somebody has called it since. */
export const demoSourceId = '00000000-0000-4000-8000-000000000002';

// The source runs as TypeScript, the package as JavaScript.
const program = fileURLToPath(new URL(`../demo/demo-server${extname(import.meta.url)}`, import.meta.url));

/** Whatever somebody has called it since; what was made another source of is theirs. */
export function isDemo({ id, source_type, definition }: SourceRecord): boolean {
  return id === demoSourceId && source_type === 'mcp' && /^demo-server\.[jt]s$/.test(basename(definition.command?.[1] ?? ''));
}

/**
 * Brings the demo server along: a source like any other, which an administrator may stop, change and delete. It is made once. Later it is
 * only told where its program is, since that may have moved with an upgrade.
 */
export async function placeDemo(crib: Crib, { isNew }: { isNew: boolean }): Promise<void> {
  const known = crib.counter.sources.get(demoSourceId);
  // Somebody has made another kind of source of it, and keeps that.
  if (known !== undefined && known.source_type !== 'mcp') return;
  const command = [process.execPath, program];
  const placed = known?.definition?.command ?? [];
  // Somebody who has made another source of it keeps that.
  const isMoved = known !== undefined && isDemo(known) && placed.join('\0') !== command.join('\0');
  if (known === undefined ? !isNew : !isMoved) return;
  const now = laterThan(known);
  const source: SourceRecord = {
    name: 'Pizzeria demo',
    namespace: 'demo',
    enabled: true,
    managed_by: null,
    created_at: now,
    ...known,
    id: demoSourceId,
    source_type: 'mcp',
    definition: mcpDefinitionSchema.parse({
      lifecycle_mode: 'singleton',
      runtime_hint: 'node',
      register_resources_as_tools: true,
      ...known?.definition,
      command,
    }),
    updated_at: now,
  };
  const kind = known === undefined ? 'source-created' : 'source-changed';
  const change = {
    kind,
    topic: 'source',
    subject: source.id,
    actor: 'system',
    before: (known ?? null) as Json,
    after: source as unknown as Json,
  } as const;
  try {
    await crib.store.change(change, async (tx) => {
      // Whoever has changed it since then keeps that.
      if ((await tx.sources.get(source.id))?.updated_at !== known?.updated_at) throw new CribError('CONFLICT', 'It was changed meanwhile');
      await tx.sources.upsert(source);
    });
  } catch (error) {
    // Somebody has a source of that namespace, which comes before a demo.
    if (!(error instanceof CribError && error.code === 'CONFLICT')) throw error;
    return;
  }
  await crib.counter.reload(new Set(['source']));
  crib.supervisor.follow(crib.counter.sources);
}
