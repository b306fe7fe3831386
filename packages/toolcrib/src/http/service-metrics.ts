import { Counter, Gauge, type Registry } from 'prom-client';

export interface ServiceMetrics {
  streamOpened(): void;
  streamClosed(): void;
  databaseFailed(during: 'record' | 'request'): void;
}

interface ServiceMetricsInput {
  registry: Registry;
  spans(): { sent: number; dropped: number } | undefined;
}

/** [OPS-1] Metrics of the server itself: open streams, database errors, trace spans. */
export function createServiceMetrics({ registry, spans }: ServiceMetricsInput): ServiceMetrics {
  const streams = new Gauge({
    name: 'toolcrib_event_streams',
    help: 'Clients that follow their list of tools',
    registers: [registry],
  });
  const databaseErrors = new Counter({
    name: 'toolcrib_database_errors_total',
    help: 'Failures of the database: batches of the record that could not be written, requests that could not be served',
    labelNames: ['during'],
    registers: [registry],
  });
  for (const during of ['record', 'request']) databaseErrors.inc({ during }, 0);
  const traced: Counter<'outcome'> = new Counter({
    name: 'toolcrib_trace_spans_total',
    help: 'Finished spans: those the collector took, and those that were dropped because it did not',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      const { sent, dropped } = spans() ?? { sent: 0, dropped: 0 };
      traced.reset();
      traced.inc({ outcome: 'sent' }, sent);
      traced.inc({ outcome: 'dropped' }, dropped);
    },
  });
  return {
    streamOpened: () => streams.inc(),
    streamClosed: () => streams.dec(),
    databaseFailed: (during) => databaseErrors.inc({ during }),
  };
}
