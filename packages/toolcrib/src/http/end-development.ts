import type { Logger } from 'pino';
import type { Crib } from '../crib.ts';
import { developmentActor } from './development-actor.ts';
import { isDemo } from './place-demo.ts';
import { isPizzeria } from './place-pizzeria.ts';

/**
 * What a server with an issuer finds of development on the same data: policies, which grant nothing here, and demos, which are put to rest.
 * Nobody should wonder where they have gone, or go on granting without knowing it.
 */
export async function endDevelopment(crib: Crib, logger: Logger): Promise<void> {
  const policies = crib.counter.rules.policies.flatMap(({ policy }) => (policy.managed_by === 'development' ? [policy.id] : []));
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
  return [...crib.counter.sources.values()].filter((source) => isDemo(source) || isPizzeria(source));
}
