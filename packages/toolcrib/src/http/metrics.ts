import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { CallRecord } from '../model/call.ts';

export interface Metrics {
  callFinished(record: CallRecord): void;
  authenticationFailed(): void;
  text(): Promise<string>;
  readonly contentType: string;
}

/** [OPS-1] What Prometheus reads at `/metrics`. */
export function createMetrics(): Metrics {
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
  const completed = calls.labels({ status: 'completed', code: '' });
  return {
    callFinished({ status, error_code, duration_us }) {
      if (status === 'completed') completed.inc();
      else calls.inc({ status, code: error_code ?? '' });
      durations.observe(duration_us / 1e6);
    },
    authenticationFailed: () => authenticationFailures.inc(),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
