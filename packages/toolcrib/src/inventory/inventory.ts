import type { Embedder } from '../model/embedder.ts';
import type { ChangeTopic } from '../model/event.ts';
import type { Principal } from '../model/principal.ts';
import type { SourceRecord } from '../model/source.ts';
import type { Tool } from '../model/tool.ts';
import { createLiveAccess, type Access } from '../policy/access.ts';
import { ActiveTools } from '../policy/active-tools.ts';
import type { Rules } from '../policy/rules.ts';
import type { Store } from '../store/store.ts';
import { createRulesReader } from './current-rules.ts';
import { readCurrentTools } from './current-tools.ts';
import { DefinitionArchive } from './definition-archive.ts';
import { createToolSearch } from './search/tool-search.ts';
import { createSnapshot, type Snapshot } from './snapshot.ts';

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
  /** Resolves when all tools are in the index. A search before that finds them too, and takes longer. */
  indexed(): Promise<void>;
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
  const rulesReader = createRulesReader({ warn, development });
  const snapshot = createSnapshot();
  const archive = new DefinitionArchive();
  const active = new ActiveTools();
  let sources: ReadonlyMap<string, SourceRecord> = new Map();
  let rules = (await read(undefined))();
  const access = createLiveAccess({ rules, tools: active });
  let queue: Promise<void> = Promise.resolve();
  /** Whether the next reload has not begun yet. */
  let waiting = false;

  /**
   * Reads what has changed at one moment: a new policy with an old group could grant what neither the old nor the new state grants. Returns
   * how to take it over.
   */
  function read(known: number | undefined): Promise<() => Rules> {
    return store.snapshot(async (nouns) => {
      const revision = await nouns.events.lastId(topicsRead);
      // Nothing has changed, as when this server hears of its own change.
      if (known === revision) return () => rules;
      const changedRules = await rulesReader.read(nouns, revision);
      const tools = await readCurrentTools(nouns, revision, { revision: known, sources, snapshot, archive });
      return () => {
        ({ sources } = tools);
        snapshot.change(tools);
        // At the last moment, so that a source that went away during the reading stays away.
        active.change(
          tools.removed,
          [...tools.added].filter((tool) => !unavailable.has(tool.source_id)),
        );
        toolSearch.change(tools);
        return changedRules();
      };
    });
  }

  async function reloadNow(): Promise<void> {
    const changed = (await read(rules.revision))();
    if (changed === rules) return;
    rules = changed;
    access.follow(rules);
    for (const listener of listeners) tell(listener);
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
      return rules;
    },
    snapshot,
    get sources() {
      return sources;
    },
    find: (reference) => snapshot.find(reference),
    accessOf: access.accessOf,
    search: (visible, query) => toolSearch.search(query, visible.tools),
    indexed: () => toolSearch.settled(),
    reload(topics) {
      // A reload that has not begun yet will see this change too: forty changes at once are read once, not forty times.
      if (waiting || !topicsRead.some((topic) => topics.has(topic))) return queue;
      waiting = true;
      // One at a time: an earlier reload that read older rows must never overwrite a later one.
      queue = queue
        .catch(() => undefined)
        .then(() => {
          waiting = false;
          return reloadNow();
        });
      return queue;
    },
    setAvailable(sourceId, available) {
      if (available === !unavailable.has(sourceId)) return;
      const tools = snapshot.ofSource(sourceId);
      if (available) unavailable.delete(sourceId);
      else unavailable.add(sourceId);
      active.change(available ? [] : tools, available ? tools : []);
      for (const listener of listeners) tell(listener);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
