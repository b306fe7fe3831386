import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface ServiceMetrics {
  streamOpened(): void;
  streamClosed(): void;
  /** One batch of the record of calls. */
  recordWritten(batch: { seconds: number; failed: boolean }): void;
  databaseFailed(during: 'record' | 'request'): void;
}

interface ServiceMetricsInput {
  registry: Registry;
  spans(): { sent: number; dropped: number } | undefined;
}

/** [OPS-1] What is counted of the server itself: what it holds open, and what it writes. */
export function createServiceMetrics({ registry, spans }: ServiceMetricsInput): ServiceMetrics {
  const streams = new Gauge({
    name: 'toolcrib_event_streams',
    help: 'Clients that follow their list of tools',
    registers: [registry],
  });
  const records = new Histogram({
    name: 'toolcrib_record_duration_seconds',
    help: 'Time it took to write one batch of the record of calls, for which every call of the batch waits',
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
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
    recordWritten({ seconds, failed }) {
      records.observe(seconds);
      if (failed) databaseErrors.inc({ during: 'record' });
    },
    databaseFailed: (during) => databaseErrors.inc({ during }),
  };
}
