import type { SourceRecord } from '../model/source.ts';
import type { Tool, ToolRecord } from '../model/tool.ts';
import type { StoreNouns } from '../store/store.ts';
import { canonicalJson } from '../model/canonical-json.ts';
import { createSnapshot, type Snapshot } from './snapshot.ts';
import { toolFromRecord } from './tool-from-record.ts';

/** All sources and their tools at the time of this event. */
export interface CurrentTools {
  readonly revision: number;
  readonly sources: ReadonlyMap<string, SourceRecord>;
  readonly snapshot: Snapshot;
}

/** Beyond this, reading everything is no slower than reading what changed. */
const mostChanges = 100;

/**
 * The current tools. Only changes since the last reading are read: with ten thousand tools, a refresh of one source or a hidden tool must not
 * cost reading them all. The caller reads within one transaction, so everything is of one moment.
 */
export async function readCurrentTools(nouns: StoreNouns, revision: number, previous: CurrentTools | undefined): Promise<CurrentTools> {
  // Fewer events than before: the database was restored to an earlier state, and anything may be different.
  if (previous === undefined || revision < previous.revision) return readAll(nouns, revision, previous);
  const changes = await nouns.events.subjectsAfter(previous.revision, ['source', 'tool'], mostChanges + 1);
  if (changes.length === 0) return previous;
  if (changes.length > mostChanges) return readAll(nouns, revision, previous);

  const sources = await readSources(nouns);
  const changedSources = new Set<string>();
  const records = new Map<string, ToolRecord>();
  for (const { topic, subject } of changes) {
    if (topic === 'source' || sources.has(subject) || previous.sources.has(subject)) {
      changedSources.add(subject);
      continue;
    }
    const record = await nouns.tools.get(subject);
    if (record === undefined) return readAll(nouns, revision, previous);
    records.set(subject, record);
  }
  for (const id of changedSources) for (const record of await nouns.tools.listBySource(id)) records.set(record.tool_id, record);
  const kept = previous.snapshot.tools.filter(({ tool_id, source_id }) => !changedSources.has(source_id) && !records.has(tool_id));
  const tools = [...kept, ...toolsOf(records.values(), sources, previous)];
  return { revision, sources, snapshot: createSnapshot(tools) };
}

async function readAll(nouns: StoreNouns, revision: number, previous: CurrentTools | undefined): Promise<CurrentTools> {
  const sources = await readSources(nouns);
  return { revision, sources, snapshot: createSnapshot(toolsOf(await nouns.tools.list(), sources, previous)) };
}

async function readSources(nouns: StoreNouns): Promise<Map<string, SourceRecord>> {
  return new Map((await nouns.sources.list()).map((source) => [source.id, source]));
}

function toolsOf(records: Iterable<ToolRecord>, sources: ReadonlyMap<string, SourceRecord>, previous: CurrentTools | undefined): Tool[] {
  const tools: Tool[] = [];
  for (const record of records) {
    const source = sources.get(record.source_id);
    if (source === undefined || !source.enabled) continue;
    const tool = toolFromRecord(record, source);
    const before = previous?.snapshot.byReference.get(tool.tool_id);
    // The same object for the same content keeps its compiled and rendered forms.
    tools.push(before !== undefined && isSame(before, tool) ? before : tool);
  }
  return tools;
}

function isSame(before: Tool, after: Tool): boolean {
  return before.fingerprint === after.fingerprint && unshown(before) === unshown(after);
}

/** Fields that are not part of the fingerprint, because no list shows them. */
function unshown({ labels, limits, source_limits, timeout_ms, retries, approved_hash }: Tool): string {
  return canonicalJson([labels, limits, source_limits, timeout_ms, retries, approved_hash]);
}
