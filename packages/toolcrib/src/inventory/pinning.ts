import type { Pinning } from '../model/source-definition.ts';
import type { Approval, DiscoveredTool, ToolRecord } from '../model/tool.ts';
import { definitionHash, pinnedDefinition } from './definition-hash.ts';

type Pinned = Pick<ToolRecord, 'discovered' | 'definition_hash' | 'state' | 'approved_hash' | 'approved'>;

/**
 * [INV-3] The state of a discovered tool, given what was approved before. A definition that returns to the approved one is active again by
 * itself, since somebody has seen exactly that.
 */
export function pin(found: DiscoveredTool, before: ToolRecord | undefined, pinning: Pinning): Pinned {
  const definition_hash = definitionHash(pinnedDefinition(found));
  const approvedHash = before?.approved_hash ?? null;
  const isFirstSight = before === undefined;
  if (pinning === 'off' || approvedHash === definition_hash || (pinning === 'warn' && isFirstSight))
    return { discovered: found, definition_hash, state: 'active', approved_hash: definition_hash, approved: null };
  // The approved definition is kept only while it differs from the discovered one.
  const approved = before === undefined || approvedHash === null ? null : (before.approved ?? pinnedDefinition(before.discovered));
  const held = approvedHash === null ? 'pending' : 'quarantined';
  return { discovered: found, definition_hash, state: pinning === 'warn' ? 'active' : held, approved_hash: approvedHash, approved };
}

/** The same record after an administrator has approved the discovered definition. */
export function approve(record: ToolRecord, now: number): ToolRecord {
  const state = record.state === 'deprecated' ? 'deprecated' : 'active';
  return { ...record, state, approved_hash: record.definition_hash, approved: null, updated_at: now };
}

export function isWaiting(tool: { definition_hash: string; approved_hash: string | null }): boolean {
  return tool.approved_hash !== tool.definition_hash;
}

export function approvalOf(tool: { definition_hash: string; approved_hash: string | null }): Approval {
  if (!isWaiting(tool)) return 'approved';
  return tool.approved_hash === null ? 'new' : 'changed';
}
