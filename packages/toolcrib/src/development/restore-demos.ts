import type { Crib } from '../crib.ts';
import type { DevIssuer } from '../identity/development/dev-issuer.ts';
import { CribError } from '../model/crib-error.ts';
import type { SourceRecord } from '../model/source.ts';
import { developmentActor } from './development-actor.ts';
import { isDemo, placeDemo } from './place-demo.ts';
import { isPizzeria, placePizzeria } from './place-pizzeria.ts';

interface RestoreDemosInput {
  baseUrl: string;
  issuer: DevIssuer;
  /** Whether the server has them at all. */
  demo: boolean;
}

/** Restores the demo sources, whether they were deleted, disabled or moved. They are created only once otherwise. */
export async function restoreDemos(crib: Crib, { baseUrl, issuer, demo }: RestoreDemosInput): Promise<SourceRecord[]> {
  if (!demo) throw new CribError('CONFLICT', 'This server was started with --no-demo: start it without, and the demo can be restored');
  await placeDemo(crib, { isNew: true });
  await placePizzeria(crib, { baseUrl, issuer, isNew: true });
  const known = () => [...crib.inventory.sources.values()];
  const restored = [demoOr(known().find(isDemo), 'demo'), demoOr(known().find(isPizzeria), 'pizzeria')];
  for (const { id, enabled } of restored) if (!enabled) await crib.sources.setEnabled(developmentActor, id, true);
  return restored;
}

function demoOr(found: SourceRecord | undefined, namespace: string): SourceRecord {
  if (found !== undefined) return found;
  throw new CribError('CONFLICT', `Another source has the namespace ${namespace}: remove it, or give it another, and try again`);
}
