import type { Crib } from '../crib.ts';
import { CribError } from '../model/crib-error.ts';

/** A first group and policy, so that a fresh development server has something to show. Given once: what was deleted stays deleted. */
export async function seedDevelopment(crib: Crib): Promise<void> {
  if ((await crib.store.events.lastId(['group', 'policy'])) > 0) return;
  const now = Date.now();
  const stored = { created_at: now, updated_at: now };
  const group = {
    id: 'builtin-tools',
    name: 'Built-in tools',
    description: 'Every tool that comes with Toolcrib',
    selectors: [{ source: 'builtin' }],
    include: [],
    exclude: [],
    ...stored,
  };
  const policy = {
    id: 'users-use-builtin-tools',
    name: 'Users may use the built-in tools',
    description: 'Made for development; delete it when you have policies of your own',
    enabled: true,
    matchers: [{ path: 'realm_access.roles', operator: 'contains' as const, value: 'toolcrib-user' }],
    groups: [group.id],
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
  await crib.counter.reload(new Set(['group', 'policy']));
}
