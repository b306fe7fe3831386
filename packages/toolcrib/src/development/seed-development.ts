import type { Crib } from '../crib.ts';
import { CribError } from '../model/crib-error.ts';

interface SeededGroup {
  id: string;
  name: string;
  description: string;
  /** The source it is about, or `*`. */
  source: string;
  policy: { id: string; name: string };
}

const builtinTools: SeededGroup = {
  id: 'builtin-tools',
  name: 'Built-in tools',
  description: 'Every tool that comes with Toolcrib',
  source: 'builtin',
  policy: { id: 'users-use-builtin-tools', name: 'Users may use the built-in tools' },
};

/** Without it, the first source that somebody tries would have tools that nobody may use. */
const everyTool: SeededGroup = {
  id: 'every-tool',
  name: 'Every tool',
  description: 'The tools of all sources there are and will be',
  source: '*',
  policy: { id: 'users-use-every-tool', name: 'Users may use every tool' },
};

/**
 * First groups and policies, so that a fresh development server has something to show. They are created once: deleted ones stay deleted. Resolves
 * to true where it created them.
 */
export async function seedDevelopment(crib: Crib, { demo }: { demo: boolean }): Promise<boolean> {
  if ((await crib.store.events.lastId(['group', 'policy'])) > 0) return false;
  for (const seeded of demo ? [builtinTools, everyTool] : [builtinTools]) await seed(crib, seeded);
  await crib.inventory.reload(new Set(['group', 'policy']));
  return true;
}

async function seed(crib: Crib, { source, policy: granting, ...named }: SeededGroup): Promise<void> {
  const now = Date.now();
  const stored = { created_at: now, updated_at: now };
  const group = { ...named, selectors: [{ source }], include: [], exclude: [], managed_by: null, ...stored };
  const policy = {
    ...granting,
    description: 'Made for development, and in force only there; delete it when you have policies of your own',
    enabled: true,
    matchers: [{ path: 'realm_access.roles', operator: 'contains' as const, value: 'toolcrib-user' }],
    groups: [group.id],
    managed_by: 'development' as const,
    ...stored,
  };
  const byUs = { actor: 'system', before: null } as const;
  try {
    await crib.store.change({ kind: 'group-created', topic: 'group', subject: group.id, after: group, ...byUs }, (tx) =>
      tx.groups.insert(group),
    );
    await crib.store.change({ kind: 'policy-created', topic: 'policy', subject: policy.id, after: policy, ...byUs }, (tx) =>
      tx.policies.insert(policy),
    );
  } catch (error) {
    // Another server on the same database may have been a moment quicker.
    if (!(error instanceof CribError && error.code === 'CONFLICT')) throw error;
  }
}
