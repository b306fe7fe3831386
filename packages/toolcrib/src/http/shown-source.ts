import type { Crib } from '../crib.ts';
import { waitingTools } from '../inventory/waiting-tools.ts';
import type { SourceRecord } from '../model/source.ts';
import { registrationOf } from '../sources/registration/registration-of.ts';
import { showSource } from '../sources/registration/show-source.ts';

/** A source as the API shows it: its registration as it was given, without its secrets, what that comes to, and how it is. */
export function shownSource(crib: Crib, source: SourceRecord) {
  const { registration: _stored, ...own } = source;
  return {
    ...own,
    ...(source.source_type === 'builtin' ? { definition: null } : { ...registrationOf(source), definition: showSource(source) }),
    status: crib.statusOf(source),
    health: crib.supervisor.healthOf(source.id),
    breaker: crib.executor.load.breakerOf(source.id),
    server: crib.supervisor.infoOf(source.id),
    import: crib.supervisor.importOf(source.id),
    waiting: waitingTools(crib.counter.snapshot).get(source.id) ?? 0,
    outdated_secrets: [...crib.supervisor.outdatedSecretsOf(source.id)],
  };
}
