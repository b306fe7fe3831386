import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Load } from '../crib.ts';
import type { CallNotice } from '../execution/call-notice.ts';
import type { ExchangeOutcome } from '../identity/token-exchange.ts';
import { authenticationFailures as failureReasons, type AuthenticationFailure } from '../identity/authentication-failure.ts';
import type { CallRecord } from '../model/call.ts';
import type { ErrorCode } from '../model/crib-error.ts';
import type { SourceNotice } from '../supervision/source-notice.ts';
import { createServiceMetrics, type ServiceMetrics } from './service-metrics.ts';
import { createSourceMetrics, type SeenSource } from './source-metrics.ts';
import { createToolMetrics } from './tool-metrics.ts';

export interface Metrics extends ServiceMetrics {
  callFinished(record: CallRecord): void;
  callNoticed(notice: CallNotice, namespace: string): void;
  /** Through the fault of its source. */
  callFailed(code: ErrorCode, namespace: string): void;
  sourceNoticed(notice: SourceNotice, namespace: string): void;
  /** [ID-3] How a caller came by the token for a source, and how long that took. */
  tokenExchanged(outcome: ExchangeOutcome, ms: number): void;
  /** [SRC-6] Whether the configuration file could be applied. */
  configApplied(succeeded: boolean): void;
  authenticationFailed(reason: AuthenticationFailure): void;
  text(): Promise<string>;
  readonly contentType: string;
}

interface MetricsInput {
  /** What is held up; undefined before the start. */
  load(): Load | undefined;
  namespaceOf(sourceId: string): string | undefined;
  sources(): SeenSource[];
  /** What became of finished spans; undefined where none are made. */
  spans(): { sent: number; dropped: number } | undefined;
}

const buckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60];

/** [OPS-1] What Prometheus reads at `/metrics`. What is not counted as it happens is asked for when it does. */
export function createMetrics({ load, namespaceOf, sources, spans }: MetricsInput): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'toolcrib_' });
  const calls = new Counter({
    name: 'toolcrib_calls_total',
    help: 'Finished and refused calls: how they ended, and of those that failed whose failure it was (tool, source, gateway, caller)',
    labelNames: ['status', 'code', 'origin'],
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
    help: 'Requests without a valid token, by what was wrong with it',
    labelNames: ['reason'],
    registers: [registry],
  });
  const exchanges = new Counter({
    name: 'toolcrib_token_exchanges_total',
    help: 'Tokens for callers of sources with a token exchange: from memory, fetched, denied to the caller, or not to be had',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const exchangeDurations = new Histogram({
    name: 'toolcrib_token_exchange_duration_seconds',
    help: 'Time an issuer took to exchange a token',
    buckets,
    registers: [registry],
  });
  const fromMemory = exchanges.labels({ outcome: 'cached' });
  for (const outcome of ['cached', 'exchanged', 'denied', 'failed']) exchanges.inc({ outcome }, 0);
  // The first of them is only seen as a rate where there was a zero before.
  for (const reason of failureReasons) authenticationFailures.inc({ reason }, 0);
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
  /** Only where there is a file, so that nobody is woken because there is none. */
  let ofConfig: { success: Gauge; timestamp: Gauge } | undefined;
  const configGauges = () => ({
    success: new Gauge({
      name: 'toolcrib_config_last_reload_success',
      help: 'Whether the configuration file was applied when it was last read',
      registers: [registry],
    }),
    timestamp: new Gauge({
      name: 'toolcrib_config_last_reload_timestamp_seconds',
      help: 'When the configuration file was last applied',
      registers: [registry],
    }),
  });
  const ofSources = createSourceMetrics({ registry, namespaceOf, sources, buckets });
  const ofTools = createToolMetrics({ registry, namespaceOf });
  const completed = calls.labels({ status: 'completed', code: '', origin: '' });
  return {
    callFinished(record) {
      const { status, error_code, error_origin, duration_us } = record;
      if (status === 'completed') completed.inc();
      else calls.inc({ status, code: error_code ?? '', origin: error_origin ?? '' });
      durations.observe(duration_us / 1e6);
      ofSources.callFinished(record);
      ofTools.callFinished(record);
    },
    callNoticed: ofSources.callNoticed,
    callFailed: ofSources.callFailed,
    sourceNoticed: ofSources.noticed,
    tokenExchanged(outcome, ms) {
      if (outcome === 'cached') return fromMemory.inc();
      exchanges.inc({ outcome });
      exchangeDurations.observe(ms / 1000);
    },
    configApplied(succeeded) {
      ofConfig ??= configGauges();
      ofConfig.success.set(succeeded ? 1 : 0);
      if (succeeded) ofConfig.timestamp.setToCurrentTime();
    },
    authenticationFailed: (reason) => authenticationFailures.inc({ reason }),
    ...createServiceMetrics({ registry, spans }),
    text() {
      ofSources.sweep();
      ofTools.sweep(new Set(sources().map(({ namespace }) => namespace)));
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}
