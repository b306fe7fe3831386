import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Load } from '../crib.ts';
import type { CallNotice } from '../execution/call-notice.ts';
import type { CallRecord } from '../model/call.ts';
import type { Tool } from '../model/tool.ts';

export interface Metrics {
  callFinished(record: CallRecord): void;
  callNoticed(notice: CallNotice, tool: Tool): void;
  authenticationFailed(): void;
  text(): Promise<string>;
  readonly contentType: string;
}

/** [OPS-1] What Prometheus reads at `/metrics`. `load` is asked when it does; there is none before the start and after the end. */
export function createMetrics({ load }: { load: () => Load | undefined }): Metrics {
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
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60],
    registers: [registry],
  });
  const authenticationFailures = new Counter({
    name: 'toolcrib_authentication_failures_total',
    help: 'Requests without a valid token',
    registers: [registry],
  });
  const notices: Record<CallNotice, Counter<'source'>> = {
    retried: bySource('toolcrib_call_retries_total', 'Further attempts of calls whose connection failed'),
    cut: bySource('toolcrib_cut_answers_total', 'Answers that were too large to be given whole'),
    'output-schema-violated': bySource('toolcrib_output_schema_violations_total', 'Answers that break the output schema of their tool'),
  };
  function bySource(name: string, help: string): Counter<'source'> {
    return new Counter({ name, help, labelNames: ['source'], registers: [registry] });
  }
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
  const completed = calls.labels({ status: 'completed', code: '' });
  return {
    callFinished({ status, error_code, duration_us }) {
      if (status === 'completed') completed.inc();
      else calls.inc({ status, code: error_code ?? '' });
      durations.observe(duration_us / 1e6);
    },
    callNoticed: (notice, tool) => notices[notice].inc({ source: tool.namespace }),
    authenticationFailed: () => authenticationFailures.inc(),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
