import type { DefinitionFlag } from '../model/definition-flag.ts';
import type { Json } from '../model/json.ts';
import type { SourceRecord } from '../model/source.ts';
import { comparedFields, type Approval, type ComparedField, type PinnedDefinition, type Tool, type ToolRecord } from '../model/tool.ts';
import { definitionFlags } from './definition-flags.ts';
import { canonicalJson } from '../model/canonical-json.ts';
import { pinnedDefinition } from './definition-hash.ts';
import { approvalOf } from './pinning.ts';
import { toolFromRecord } from './tool-from-record.ts';

/** [INV-3] The approved and the discovered definition side by side, for somebody who has to decide. */
export interface ToolDifference {
  tool_id: string;
  name: string;
  upstream_name: string;
  state: Tool['state'];
  approval: Approval;
  /** The hash of the discovered definition, which an approval has to name. */
  definition_hash: string;
  approved_hash: string | null;
  fields: { field: ComparedField; before: Json; after: Json }[];
  flags: readonly DefinitionFlag[];
}

export function toolDifference(record: ToolRecord, source: SourceRecord): ToolDifference {
  const { tool_id, definition_hash, approved_hash } = record;
  const { name, state } = toolFromRecord(record, source);
  const found = record.discovered.definition;
  const approval = approvalOf(record);
  const now = readable(pinnedDefinition(record.discovered));
  const approved = approval === 'approved' ? now : record.approved && readable(record.approved);
  const differing = comparedFields.flatMap((field) => {
    const [before, after] = [approved?.[field] ?? null, now[field] ?? null];
    return canonicalJson(before) === canonicalJson(after) ? [] : [{ field, before, after }];
  });
  return {
    tool_id,
    name,
    upstream_name: found.name,
    state,
    approval,
    definition_hash,
    approved_hash,
    fields: differing,
    flags: definitionFlags(found),
  };
}

/** Of an HTTP operation, the method and the address come first, in one line. */
function readable({ operation, workflow, ...definition }: PinnedDefinition): Partial<Record<ComparedField, Json>> {
  const shown = definition as Partial<Record<ComparedField, Json>>;
  if (workflow !== undefined) return { ...shown, workflow: workflow as unknown as Json };
  if (operation === undefined) return shown;
  const { method, server, path, ...rest } = operation;
  return { ...shown, request: `${method} ${server}${path}`, operation: rest as unknown as Json };
}
