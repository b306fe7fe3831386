import { Gauge, type Registry } from 'prom-client';
import type { Crib } from '../crib.ts';

/** [OPS-1] What waits to be brought from the journal into the database. */
export function addJournalMetrics(registry: Registry, load: () => ReturnType<Crib['load']> | undefined): void {
  const bytes: Gauge = new Gauge({
    name: 'toolcrib_journal_bytes',
    help: 'How much of the record is in the journal and not in the database yet',
    registers: [registry],
    collect: () => bytes.set(load()?.journal?.bytes ?? 0),
  });
  const seconds: Gauge = new Gauge({
    name: 'toolcrib_journal_lag_seconds',
    help: 'For how long the oldest of it has waited',
    registers: [registry],
    collect: () => seconds.set(load()?.journal?.seconds ?? 0),
  });
}
