import { toolId } from '../inventory/tool-id.ts';
import { CribError } from '../model/crib-error.ts';
import type { SourceRecord } from '../model/source.ts';
import type { StoreNouns } from '../store/store.ts';

interface ReferenceScope {
  /** Those that count, where it is not all there are. */
  sources?: readonly Pick<SourceRecord, 'id' | 'namespace'>[];
  /** Namespaces of sources that are about to be made; what names their tools is left as it is. */
  pending?: ReadonlySet<string>;
}

/**
 * [NAME-4] The ids of tools that were named. Ids are what is stored: were it names, a source that is deleted and another that takes its
 * namespace later would inherit what was granted to the first, and so would a tool that is given another's name. A tool that its source
 * has not shown yet may be named all the same.
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
      throw new CribError('VALIDATION_ERROR', `${at} must be a tool id or <namespace>:<tool> of a source there is`, { field: at });
    const name = reference.slice(separator + 1);
    const renamed = renamedBySource.get(sourceId) ?? (await renamedTools(tx, sourceId));
    renamedBySource.set(sourceId, renamed);
    return renamed.get(name) ?? toolId(sourceId, name);
  }
}

/** [INV-5] What administrators have given a name of their own, by that name: it is the one that is seen, so it is the one that is meant. */
async function renamedTools(tx: StoreNouns, sourceId: string): Promise<ReadonlyMap<string, string>> {
  const records = await tx.tools.listBySource(sourceId);
  return new Map(records.flatMap(({ tool_id, overrides: { rename } }) => (rename === undefined ? [] : [[rename, tool_id]])));
}
