import type { Embedder } from '../model/embedder.ts';
import type { ChangeTopic } from '../model/event.ts';
import type { Principal } from '../model/principal.ts';
import type { SourceRecord } from '../model/source.ts';
import type { Tool } from '../model/tool.ts';
import { type Access, type AccessBook, createAccessBook } from '../policy/access.ts';
import { compileRules, type Rules } from '../policy/rules.ts';
import type { Store } from '../store/store.ts';
import { readCurrentTools, type CurrentTools } from './current-tools.ts';
import { createToolSearch } from './search/tool-search.ts';
import type { Snapshot } from './snapshot.ts';

/** The topics whose changes it reads. */
const topicsRead = ['source', 'tool', 'group', 'policy'] as const satisfies ChangeTopic[];

/**
 * The current tools and rules, in memory. Lists, calls and streams ask nowhere else, so no request reads the database to decide.
 */
export interface Inventory {
  readonly rules: Rules;
  readonly snapshot: Snapshot;
  readonly sources: ReadonlyMap<string, SourceRecord>;
  /** [NAME-1] A tool by its id, `namespace:tool` or `namespace.tool`. */
  find(reference: string): Tool | undefined;
  accessOf(principal: Principal): Access;
  /** [INV-4] The tools that the caller may use and that fit the query, best first. */
  search(access: Access, query: string): Tool[];
  /** Reads these topics again. Resolves once everything that was committed before the call decides. */
  reload(topics: ReadonlySet<ChangeTopic>): Promise<void>;
  /** [LIFE-2] Takes the tools of a source off every list, or puts them back. The stored tools stay as they are. */
  setAvailable(sourceId: string, available: boolean): void;
  /** Calls the listener when tools, rules or availability have changed; the returned function unsubscribes it. */
  onChange(listener: () => void): () => void;
}

interface InventoryInput {
  store: Store;
  warn(message: string): void;
  /** Whether policies that were saved in development apply. */
  development?: boolean;
  /** With one, tools are also found by their meaning. */
  embedder?: Embedder | undefined;
}

export async function openInventory({ store, warn, development = false, embedder }: InventoryInput): Promise<Inventory> {
  const listeners = new Set<() => void>();
  const unavailable = new Set<string>();
  const toolSearch = createToolSearch({ embedder });
  let current = withBook(await read(undefined));
  toolSearch.changed(current.tools.snapshot.tools);
  let queue: Promise<void> = Promise.resolve();
  /** Whether the next reload has not begun yet. */
  let waiting = false;

  interface State {
    tools: CurrentTools;
    rules: Rules;
    book: AccessBook;
  }

  /**
   * Reads everything at one moment: a new policy with an old group could grant what neither the old nor the new state grants. Returns
   * `previous` itself where nothing has changed, as when this server hears of its own change.
   */
  function read(previous: State | undefined): Promise<Pick<State, 'tools' | 'rules'>> {
    return store.snapshot(async (nouns) => {
      const revision = await nouns.events.lastId(topicsRead);
      if (previous?.rules.revision === revision) return previous;
      const policies = await nouns.policies.list();
      const groups = await nouns.groups.list();
      const tools = await readCurrentTools(nouns, revision, previous?.tools);
      const rules = compileRules({ policies, groups, revision, warn, development });
      return { tools, rules };
    });
  }

  /** At the last moment, so that a source that went away during the reading stays away. */
  function withBook({ tools, rules }: Pick<State, 'tools' | 'rules'>): State {
    const available = tools.snapshot.tools.filter((tool) => !unavailable.has(tool.source_id));
    return { tools, rules, book: createAccessBook({ rules, tools: available }) };
  }

  /** A listener that fails must neither fail the change nor keep it from the others. */
  function tell(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      warn(`A listener failed after a change: ${String(error)}`);
    }
  }

  return {
    get rules() {
      return current.rules;
    },
    get snapshot() {
      return current.tools.snapshot;
    },
    get sources() {
      return current.tools.sources;
    },
    find: (reference) => current.tools.snapshot.byReference.get(reference),
    accessOf: (principal) => current.book.accessOf(principal),
    search(access, query) {
      const visible = { tools: access.tools, has: (tool: Tool) => access.permissions.has(tool.tool_id) };
      return toolSearch.search(query, current.tools.snapshot.tools, visible);
    },
    reload(topics) {
      // A reload that has not begun yet will see this change too: forty changes at once are read once, not forty times.
      if (waiting || !topicsRead.some((topic) => topics.has(topic))) return queue;
      waiting = true;
      // One at a time: an earlier reload that read older rows must never overwrite a later one.
      queue = queue
        .catch(() => undefined)
        .then(async () => {
          waiting = false;
          const before = current;
          const after = await read(before);
          if (after === before) return;
          current = withBook(after);
          toolSearch.changed(after.tools.snapshot.tools);
          for (const listener of listeners) tell(listener);
        });
      return queue;
    },
    setAvailable(sourceId, available) {
      if (available === !unavailable.has(sourceId)) return;
      if (available) unavailable.delete(sourceId);
      else unavailable.add(sourceId);
      current = withBook(current);
      for (const listener of listeners) tell(listener);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
