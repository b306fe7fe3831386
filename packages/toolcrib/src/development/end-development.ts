import type { Logger } from 'pino';
import type { Crib } from '../crib.ts';
import { developmentActor } from './development-actor.ts';
import { isDemo } from './place-demo.ts';
import { isPizzeria } from './place-pizzeria.ts';

/**
 * Handles what development left in the data of a server with an issuer: warns of its policies, which grant nothing here, and disables its
 * demos. Both are logged, so that nobody wonders where they went.
 */
export async function endDevelopment(crib: Crib, logger: Logger): Promise<void> {
  const policies = crib.inventory.rules.policies.flatMap(({ policy }) => (policy.managed_by === 'development' ? [policy.id] : []));
  if (policies.length > 0) {
    logger.warn(
      { policies },
      'policies from development grant nothing where an issuer is configured: save those you want again as an administrator, or in the configuration file, and delete the others',
    );
  }
  for (const { id, namespace } of demosOf(crib).filter(({ enabled }) => enabled)) {
    await crib.sources.setEnabled(developmentActor, id, false);
    logger.warn({ source: namespace }, 'a demo from development was disabled: delete it if you do not go back to development');
  }
}

/** The demos that a server with an issuer has put to rest, and nobody has touched since. */
export async function restingDemos(crib: Crib): Promise<string[]> {
  const resting: string[] = [];
  for (const { id } of demosOf(crib).filter(({ enabled }) => !enabled)) {
    const [last] = await crib.store.events.list({ topic: 'source', subject: id, limit: 1 });
    if (last?.kind === 'source-disabled' && last.actor === developmentActor.key) resting.push(id);
  }
  return resting;
}

function demosOf(crib: Crib) {
  return [...crib.inventory.sources.values()].filter((source) => isDemo(source) || isPizzeria(source));
}
