import type { SourceRecord } from '../model/source.ts';
import type { Tool, ToolRecord } from '../model/tool.ts';
import type { ToolChange } from '../policy/tools-in-order.ts';
import type { StoreNouns } from '../store/store.ts';
import { canonicalJson } from '../model/canonical-json.ts';
import type { Snapshot } from './snapshot.ts';
import { toolFromRecord } from './tool-from-record.ts';

/** All sources and their tools at the time of this event. */
export interface CurrentTools {
  /** Undefined before the first reading. */
  readonly revision: number | undefined;
  /** By namespace. */
  readonly sources: ReadonlyMap<string, SourceRecord>;
  readonly snapshot: Snapshot;
}

/** What has to be done to bring the tools up to date. */
export interface ReadTools extends ToolChange {
  readonly sources: ReadonlyMap<string, SourceRecord>;
}

/** Beyond this, reading everything is no slower than reading what changed. */
const mostChanges = 100;

/**
 * How the tools differ from the earlier ones. Only changes since the last reading are read: with ten thousand tools, a refresh of one source
 * or a hidden tool must not cost reading them all. The caller reads within one transaction, so everything is of one moment.
 */
export async function readCurrentTools(nouns: StoreNouns, revision: number, previous: CurrentTools): Promise<ReadTools> {
  // Fewer events than before: the database was restored to an earlier state, and anything may be different.
  if (previous.revision === undefined || revision < previous.revision) return readAll(nouns, previous);
  const changes = await nouns.events.subjectsAfter(previous.revision, ['source', 'tool'], mostChanges + 1);
  if (changes.length > mostChanges) return readAll(nouns, previous);

  const changedSources = new Map<string, SourceRecord | undefined>();
  const ofTools: string[] = [];
  for (const { topic, subject } of changes) {
    const isSource = topic === 'source' || previous.sources.has(subject);
    const source = changedSources.get(subject) ?? (await nouns.sources.get(subject));
    if (isSource || source !== undefined) changedSources.set(subject, source);
    else ofTools.push(subject);
  }
  const records = new Map<string, ToolRecord>();
  for (const id of ofTools) {
    const record = await nouns.tools.get(id);
    if (record === undefined) return readAll(nouns, previous);
    records.set(id, record);
  }
  for (const id of changedSources.keys()) for (const record of await nouns.tools.listBySource(id)) records.set(record.tool_id, record);
  const sources = changedSources.size === 0 ? previous.sources : sourcesAfter(previous.sources, changedSources);
  const gone = new Set([...changedSources.keys()].flatMap((id) => previous.snapshot.ofSource(id)));
  return { sources, ...changeTo(records.values(), { sources, snapshot: previous.snapshot, gone }) };
}

async function readAll(nouns: StoreNouns, { snapshot }: CurrentTools): Promise<ReadTools> {
  const sources = new Map((await nouns.sources.list()).map((source) => [source.id, source]));
  return { sources, ...changeTo(await nouns.tools.list(), { sources, snapshot, gone: new Set(snapshot.tools) }) };
}

function sourcesAfter(sources: ReadonlyMap<string, SourceRecord>, changed: ReadonlyMap<string, SourceRecord | undefined>) {
  const kept = [...sources.values()].filter(({ id }) => !changed.has(id));
  const all = [...kept, ...[...changed.values()].filter((source) => source !== undefined)];
  return new Map(all.sort((a, b) => (a.namespace < b.namespace ? -1 : 1)).map((source) => [source.id, source]));
}

interface Before {
  sources: ReadonlyMap<string, SourceRecord>;
  snapshot: Snapshot;
  /** The tools that are no longer there, unless they are among the records. */
  gone: Set<Tool>;
}

function changeTo(records: Iterable<ToolRecord>, { sources, snapshot, gone }: Before): ToolChange {
  const removed = gone;
  const added = new Set<Tool>();
  for (const record of records) {
    const source = sources.get(record.source_id);
    const before = snapshot.find(record.tool_id);
    if (source === undefined || !source.enabled) continue;
    const tool = toolFromRecord(record, source);
    // The same object for the same content keeps its compiled and rendered forms.
    if (before !== undefined && isSame(before, tool)) removed.delete(before);
    else {
      if (before !== undefined) removed.add(before);
      added.add(tool);
    }
  }
  return { removed, added };
}

function isSame(before: Tool, after: Tool): boolean {
  return before.fingerprint === after.fingerprint && unshown(before) === unshown(after);
}

/** Fields that are not part of the fingerprint, because no list shows them. */
function unshown({ labels, limits, source_limits, timeout_ms, retries, approved_hash }: Tool): string {
  return canonicalJson([labels, limits, source_limits, timeout_ms, retries, approved_hash]);
}
