import type { SourceRecord } from '../model/source.ts';
import type { Tool } from '../model/tool.ts';
import type { ToolChange } from '../policy/tools-in-order.ts';
import type { StoreNouns } from '../store/store.ts';
import type { StoredTool } from '../store/tools.ts';
import { canonicalJson } from '../model/canonical-json.ts';
import type { DefinitionArchive } from './definition-archive.ts';
import { InventoryTool } from './inventory-tool.ts';
import type { Snapshot } from './snapshot.ts';
import { sourceFacts } from './source-facts.ts';

/** All sources and their tools at the time of this event. */
export interface CurrentTools {
  /** Undefined before the first reading. */
  readonly revision: number | undefined;
  /** By namespace. */
  readonly sources: ReadonlyMap<string, SourceRecord>;
  readonly snapshot: Snapshot;
  readonly archive: DefinitionArchive;
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
  const stored: StoredTool[] = [];
  for (const id of ofTools) {
    const tool = await nouns.tools.getStored(id);
    if (tool === undefined) return readAll(nouns, previous);
    if (!changedSources.has(tool.source_id)) stored.push(tool);
  }
  const sources = changedSources.size === 0 ? previous.sources : sourcesAfter(previous.sources, changedSources);
  const gone = [...changedSources.keys()].flatMap((id) => previous.snapshot.ofSource(id));
  const change = createChange({ ...previous, sources }, gone);
  change.add(stored);
  for (const id of changedSources.keys()) for await (const page of nouns.tools.pages(id)) change.add(page);
  return { sources, ...change };
}

async function readAll(nouns: StoreNouns, previous: CurrentTools): Promise<ReadTools> {
  const sources = new Map((await nouns.sources.list()).map((source) => [source.id, source]));
  const change = createChange({ ...previous, sources }, previous.snapshot.tools);
  for await (const page of nouns.tools.pages()) change.add(page);
  return { sources, ...change };
}

function sourcesAfter(sources: ReadonlyMap<string, SourceRecord>, changed: ReadonlyMap<string, SourceRecord | undefined>) {
  const kept = [...sources.values()].filter(({ id }) => !changed.has(id));
  const all = [...kept, ...[...changed.values()].filter((source) => source !== undefined)];
  return new Map(all.sort((a, b) => (a.namespace < b.namespace ? -1 : 1)).map((source) => [source.id, source]));
}

/** Collects the difference to the earlier tools. `gone` are those that are no longer there, unless they are added. */
function createChange({ sources, snapshot, archive }: Omit<CurrentTools, 'revision'>, gone: readonly Tool[]) {
  const removed = new Set(gone);
  const added = new Set<Tool>();

  function addOne(tool: Tool): void {
    const before = snapshot.find(tool.tool_id);
    // The same object for the same content keeps its compiled and rendered forms.
    if (before !== undefined && isSame(before, tool)) removed.delete(before);
    else {
      if (before !== undefined) removed.add(before);
      added.add(tool);
    }
  }

  return {
    removed,
    added,
    add(page: readonly StoredTool[]): void {
      const wanted = page.filter(({ source_id }) => sources.get(source_id)?.enabled === true);
      const definitions = archive.keep(wanted.map(({ discovered }) => discovered));
      for (const [index, columns] of wanted.entries()) {
        const source = sources.get(columns.source_id);
        const definition = definitions[index];
        if (source !== undefined && definition !== undefined)
          addOne(new InventoryTool({ columns, source: sourceFacts(source), definition, archive }));
      }
    },
  };
}

function isSame(before: Tool, after: Tool): boolean {
  return before.fingerprint === after.fingerprint && unshown(before) === unshown(after);
}

/** Fields that are not part of the fingerprint, because no list shows them. */
function unshown({ labels, limits, source_limits, timeout_ms, retries, approved_hash }: Tool): string {
  return canonicalJson([labels, limits, source_limits, timeout_ms, retries, approved_hash]);
}
