import { toolId } from '../inventory/tool-id.ts';
import { CribError } from '../model/crib-error.ts';
import type { SourceRecord } from '../model/source.ts';
import type { StoreNouns } from '../store/store.ts';

interface ReferenceScope {
  /** The sources to look in; all stored ones if left out. */
  sources?: readonly Pick<SourceRecord, 'id' | 'namespace'>[];
  /** Namespaces of sources that are about to be created; references to their tools stay unresolved. */
  pending?: ReadonlySet<string>;
}

/**
 * [NAME-4] Resolves tool names to ids, which are stored. With stored names, a source that takes over the namespace of a deleted one would
 * inherit its grants, and so would a tool that is renamed to another's name. A tool that its source has not listed yet may be named too.
 */
export async function resolveToolReferences(
  tx: StoreNouns,
  references: readonly string[],
  field: string,
  { sources, pending }: ReferenceScope = {},
): Promise<string[]> {
  if (references.length === 0) return [];
  const sourceIds = new Map((sources ?? (await tx.sources.list())).map((source) => [source.namespace, source.id]));
  const renamedBySource = new Map<string, ReadonlyMap<string, string>>();
  const ids = new Set<string>();
  for (const [index, reference] of references.entries()) ids.add(await resolve(reference, `${field}.${index}`));
  return [...ids];

  async function resolve(reference: string, at: string): Promise<string> {
    if (/^tool_[0-9a-f]{24}$/.test(reference)) return reference;
    const separator = reference.search(/[:.]/);
    const namespace = separator < 0 ? '' : reference.slice(0, separator);
    if (pending?.has(namespace) === true) return reference;
    const sourceId = sourceIds.get(namespace);
    if (sourceId === undefined || separator === reference.length - 1)
      throw new CribError('VALIDATION_ERROR', `${at} must be a tool id, or <namespace>:<tool> with the namespace of an existing source`, {
        field: at,
      });
    const name = reference.slice(separator + 1);
    const renamed = renamedBySource.get(sourceId) ?? (await renamedTools(tx, sourceId));
    renamedBySource.set(sourceId, renamed);
    return renamed.get(name) ?? toolId(sourceId, name);
  }
}

/** [INV-5] Tools that administrators have renamed, by the new name: users see that name, so references mean it. */
async function renamedTools(tx: StoreNouns, sourceId: string): Promise<ReadonlyMap<string, string>> {
  const records = await tx.tools.listBySource(sourceId);
  return new Map(records.flatMap(({ tool_id, overrides: { rename } }) => (rename === undefined ? [] : [[rename, tool_id]])));
}
