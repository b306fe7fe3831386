import type { Principal } from '../model/principal.ts';
import type { SourceRecord } from '../model/source.ts';
import type { Tool } from '../model/tool.ts';
import { type Access, type AccessBook, createAccessBook } from '../policy/access.ts';
import { compileRules, type Rules } from '../policy/rules.ts';
import type { Store } from '../store/store.ts';
import { createSearchIndex, type SearchIndex } from './search.ts';
import { createSnapshot, type Snapshot } from './snapshot.ts';
import { toolFromRecord } from './tool-from-record.ts';

/**
 * The counter of the crib: the current tools and the current rules, in memory. List, call and stream all ask here and nowhere else,
 * so no request ever reads the database to decide.
 */
export interface Counter {
  readonly rules: Rules;
  readonly snapshot: Snapshot;
  readonly sources: ReadonlyMap<string, SourceRecord>;
  accessOf(principal: Principal): Access;
  /** [INV-4] What the caller may use and fits the query, best first. */
  search(access: Access, query: string): Tool[];
  /** Reads everything again. Resolves when what was committed before the call is what decides. */
  reload(): Promise<void>;
  /** Tells when tools or rules changed; the returned function ends it. */
  onChange(listener: () => void): () => void;
}

export async function openCounter({ store, warn }: { store: Store; warn(message: string): void }): Promise<Counter> {
  const listeners = new Set<() => void>();
  let current = await read(undefined);
  let index: SearchIndex | undefined;
  let queue: Promise<void> = Promise.resolve();

  interface State {
    rules: Rules;
    snapshot: Snapshot;
    sources: ReadonlyMap<string, SourceRecord>;
    book: AccessBook;
  }

  async function read(previous: State | undefined): Promise<State> {
    // The revision is read first: it may be older than the rows, which only makes it be read once more, never missed.
    const revision = await store.events.lastId(['source', 'tool', 'group', 'policy']);
    const [sourceList, records, policies, groups] = await Promise.all([
      store.sources.list(),
      store.tools.list(),
      store.policies.list(),
      store.groups.list(),
    ]);
    const sources = new Map(sourceList.map((source) => [source.id, source]));
    const tools: Tool[] = [];
    for (const record of records) {
      const source = sources.get(record.source_id);
      if (source === undefined || !source.enabled) continue;
      const tool = toolFromRecord(record, source);
      const before = previous?.snapshot.find(tool.tool_id);
      // The same object for the same content keeps compiled validators and limits attached to it.
      tools.push(before?.fingerprint === tool.fingerprint ? before : tool);
    }
    const rules = compileRules({ policies, groups, revision, warn });
    const snapshot = createSnapshot(tools);
    return { rules, snapshot, sources, book: createAccessBook({ rules, tools: snapshot.tools }) };
  }

  return {
    get rules() {
      return current.rules;
    },
    get snapshot() {
      return current.snapshot;
    },
    get sources() {
      return current.sources;
    },
    accessOf: (principal) => current.book.accessOf(principal),
    search(access, query) {
      index ??= createSearchIndex(current.snapshot.tools);
      return index.search(query, (tool) => access.permissions.has(tool.tool_id), access.tools.length);
    },
    reload() {
      // One after another: a later reload must never be overwritten by an earlier one that read older rows.
      queue = queue
        .catch(() => undefined)
        .then(async () => {
          current = await read(current);
          index = undefined;
          for (const listener of listeners) listener();
        });
      return queue;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
