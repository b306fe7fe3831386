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

/** What is kept here. */
const topicsRead = ['source', 'tool', 'group', 'policy'] as const satisfies ChangeTopic[];

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
  /** Reads again what these topics are about. Resolves when what was committed before the call is what decides. */
  reload(topics: ReadonlySet<ChangeTopic>): Promise<void>;
  /** [LIFE-2] Takes the tools of a source off every list, or puts them back, without touching what is stored. */
  setAvailable(sourceId: string, available: boolean): void;
  /** Tells when tools, rules or what is available changed; the returned function ends it. */
  onChange(listener: () => void): () => void;
}

interface CounterInput {
  store: Store;
  warn(message: string): void;
  /** Whether policies that were saved in development are in force. */
  development?: boolean;
  /** Where tools are found by their meaning, too. */
  embedder?: Embedder | undefined;
}

export async function openCounter({ store, warn, development = false, embedder }: CounterInput): Promise<Counter> {
  const listeners = new Set<() => void>();
  const unavailable = new Set<string>();
  const toolSearch = createToolSearch({ embedder });
  let current = withBook(await read(undefined));
  toolSearch.changed(current.tools.snapshot.tools);
  let queue: Promise<void> = Promise.resolve();
  /** Whether the reload that comes next has not begun. */
  let waiting = false;

  interface State {
    tools: CurrentTools;
    rules: Rules;
    book: AccessBook;
  }

  /**
   * All of it is of one moment: a new policy over an old group could grant what neither an old nor a new state does. The very same
   * where nothing was changed since, as when this server's own change comes back to it.
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

  /** At the last moment, so that a source which went away during the reading is not put back by it. */
  function withBook({ tools, rules }: Pick<State, 'tools' | 'rules'>): State {
    const available = tools.snapshot.tools.filter((tool) => !unavailable.has(tool.source_id));
    return { tools, rules, book: createAccessBook({ rules, tools: available }) };
  }

  /** One that fails must neither fail the change nor keep the others from hearing of it. */
  function tell(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      warn(`A change could not be passed on: ${String(error)}`);
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
    accessOf: (principal) => current.book.accessOf(principal),
    search(access, query) {
      const visible = { tools: access.tools, has: (tool: Tool) => access.permissions.has(tool.tool_id) };
      return toolSearch.search(query, current.tools.snapshot.tools, visible);
    },
    reload(topics) {
      // One that has not begun to read will see what was committed by now: forty changes at once are read together, not forty times.
      if (waiting || !topicsRead.some((topic) => topics.has(topic))) return queue;
      waiting = true;
      // One after another: a later reload must never be overwritten by an earlier one that read older rows.
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
