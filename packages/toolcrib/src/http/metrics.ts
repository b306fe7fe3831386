import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Load } from '../crib.ts';
import type { CallNotice } from '../execution/call-notice.ts';
import type { CallRecord } from '../model/call.ts';
import type { ErrorCode } from '../model/crib-error.ts';
import type { SourceNotice } from '../supervision/source-notice.ts';
import { createSourceMetrics, type SeenSource } from './source-metrics.ts';

export interface Metrics {
  callFinished(record: CallRecord): void;
  callNoticed(notice: CallNotice, namespace: string): void;
  /** Through the fault of its source. */
  callFailed(code: ErrorCode, namespace: string): void;
  sourceNoticed(notice: SourceNotice, namespace: string): void;
  authenticationFailed(): void;
  text(): Promise<string>;
  readonly contentType: string;
}

interface MetricsInput {
  /** What is held up; undefined before the start. */
  load(): Load | undefined;
  namespaceOf(sourceId: string): string | undefined;
  sources(): SeenSource[];
}

const buckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60];

/** [OPS-1] What Prometheus reads at `/metrics`. What is not counted as it happens is asked for when it does. */
export function createMetrics({ load, namespaceOf, sources }: MetricsInput): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'toolcrib_' });
  const calls = new Counter({
    name: 'toolcrib_calls_total',
    help: 'Finished and refused calls',
    labelNames: ['status', 'code'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'toolcrib_call_duration_seconds',
    help: 'Time a source took to answer',
    buckets,
    registers: [registry],
  });
  const authenticationFailures = new Counter({
    name: 'toolcrib_authentication_failures_total',
    help: 'Requests without a valid token',
    registers: [registry],
  });
  const waiting: Gauge = new Gauge({
    name: 'toolcrib_calls_waiting',
    help: 'Calls in the queues of tools and sources',
    registers: [registry],
    collect: () => waiting.set(load()?.waiting ?? 0),
  });
  const breakers: Gauge<'of' | 'state'> = new Gauge({
    name: 'toolcrib_breakers_open',
    help: 'Sources, by namespace, and tools, by name, whose calls are refused because they kept failing',
    labelNames: ['of', 'state'],
    registers: [registry],
    collect() {
      breakers.reset();
      for (const [of, state] of load()?.disturbed ?? []) breakers.set({ of, state }, 1);
    },
  });
  const ofSources = createSourceMetrics({ registry, namespaceOf, sources, buckets });
  const completed = calls.labels({ status: 'completed', code: '' });
  return {
    callFinished(record) {
      const { status, error_code, duration_us } = record;
      if (status === 'completed') completed.inc();
      else calls.inc({ status, code: error_code ?? '' });
      durations.observe(duration_us / 1e6);
      ofSources.callFinished(record);
    },
    callNoticed: ofSources.callNoticed,
    callFailed: ofSources.callFailed,
    sourceNoticed: ofSources.noticed,
    authenticationFailed: () => authenticationFailures.inc(),
    text() {
      ofSources.sweep();
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}
