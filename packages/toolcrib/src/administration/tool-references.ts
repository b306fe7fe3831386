import { toolId } from '../inventory/tool-id.ts';
import { CribError } from '../model/crib-error.ts';
import type { StoreNouns } from '../store/store.ts';

/**
 * [NAME-4] The ids of tools that were named. Ids are what is stored: were it names, a source that is deleted and another that takes its
 * namespace later would inherit what was granted to the first. A tool that its source has not shown yet may be named all the same.
 */
export async function resolveToolReferences(tx: StoreNouns, references: readonly string[], field: string): Promise<string[]> {
  if (references.length === 0) return [];
  const sourceIds = new Map((await tx.sources.list()).map((source) => [source.namespace, source.id]));
  const ids = references.map((reference, index) => {
    if (/^tool_[0-9a-f]{24}$/.test(reference)) return reference;
    const separator = reference.search(/[:.]/);
    const sourceId = separator < 0 ? undefined : sourceIds.get(reference.slice(0, separator));
    if (sourceId === undefined || separator === reference.length - 1) {
      const at = `${field}.${index}`;
      throw new CribError('VALIDATION_ERROR', `${at} must be a tool id or <namespace>:<tool> of a source there is`, { field: at });
    }
    return toolId(sourceId, reference.slice(separator + 1));
  });
  return [...new Set(ids)];
}
