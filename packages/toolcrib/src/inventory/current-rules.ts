import type { Group, Policy } from '../model/policy.ts';
import { createLiveRules, type LiveRules, type Rules } from '../policy/rules.ts';
import type { StoreNouns } from '../store/store.ts';

/** Beyond this, reading everything is no slower than reading what changed. */
const mostChanges = 100;

interface RulesReader {
  /** Reads what has changed since these rules within the caller's transaction, and returns how to take that over. */
  read(nouns: StoreNouns, revision: number): Promise<() => Rules>;
}

interface RulesReaderInput {
  warn(message: string): void;
  development: boolean;
}

/** Reads and compiles the policies and groups that changed, and all of them where that cannot be told. */
export function createRulesReader({ warn, development }: RulesReaderInput): RulesReader {
  let live: LiveRules | undefined;

  async function readAll(nouns: StoreNouns, revision: number): Promise<() => Rules> {
    const policies = await nouns.policies.list();
    const groups = await nouns.groups.list();
    return () => {
      live = createLiveRules({ policies, groups, revision, warn, development });
      return live.current;
    };
  }

  return {
    async read(nouns, revision) {
      const known = live;
      // Fewer events than before: the database was restored to an earlier state, and anything may be different.
      if (known === undefined || revision < known.current.revision) return readAll(nouns, revision);
      const changes = await nouns.events.subjectsAfter(known.current.revision, ['policy', 'group'], mostChanges + 1);
      if (changes.length > mostChanges) return readAll(nouns, revision);
      const policies = new Map<string, Policy | undefined>();
      const groups = new Map<string, Group | undefined>();
      for (const { topic, subject } of changes) {
        const changed = topic === 'policy' ? await nouns.policies.get(subject) : await nouns.groups.get(subject);
        // Something that neither is nor was known: the change was about more than its subject says.
        if (changed === undefined && !known.has(topic === 'policy' ? 'policy' : 'group', subject)) return readAll(nouns, revision);
        if (topic === 'policy') policies.set(subject, changed as Policy | undefined);
        else groups.set(subject, changed as Group | undefined);
      }
      return () => known.change({ revision, policies, groups });
    },
  };
}
