import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { laterThan } from '../administration/later-than.ts';
import type { Crib } from '../crib.ts';
import { CribError } from '../model/crib-error.ts';
import type { Json } from '../model/json.ts';
import { mcpDefinitionSchema } from '../sources/mcp/mcp-definition.ts';
import type { SourceRecord } from '../model/source.ts';
import { isMcpSource } from '../sources/mcp/source-type.ts';

/** A fixed id, so that the demo is recognised under any name. */
export const demoSourceId = '00000000-0000-4000-8000-000000000002';

// The source runs as TypeScript, the package as JavaScript.
const program = fileURLToPath(new URL(`../demo/demo-server${extname(import.meta.url)}`, import.meta.url));

/** True under any name; a source that somebody turned into another one is theirs. */
export function isDemo(source: SourceRecord): boolean {
  const isMine = source.id === demoSourceId && isMcpSource(source);
  return isMine && /^demo-server\.[jt]s$/.test(basename(source.definition.command[1] ?? ''));
}

/**
 * Brings the demo server along: a source like any other, which an administrator may stop, change and delete. It is created once. Later
 * only the path of its program is updated, since an upgrade may have moved it.
 */
export async function placeDemo(crib: Crib, { isNew }: { isNew: boolean }): Promise<void> {
  const known = crib.inventory.sources.get(demoSourceId);
  // Somebody has turned it into another kind of source, which stays.
  if (known !== undefined && !isMcpSource(known)) return;
  const command = [process.execPath, program];
  const placed = known?.definition?.command ?? [];
  // A source that somebody turned it into stays.
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
      // A change that somebody made meanwhile stays.
      if ((await tx.sources.get(source.id))?.updated_at !== known?.updated_at) throw new CribError('CONFLICT', 'It was changed meanwhile');
      await tx.sources.upsert(source);
    });
  } catch (error) {
    // Another source has that namespace and takes precedence over a demo.
    if (!(error instanceof CribError && error.code === 'CONFLICT')) throw error;
    return;
  }
  await crib.inventory.reload(new Set(['source']));
  crib.supervisor.follow(crib.inventory.sources);
}
