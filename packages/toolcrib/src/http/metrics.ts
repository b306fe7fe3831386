import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Crib } from '../crib.ts';
import { authenticationFailures as failureReasons, type AuthenticationFailure } from '../identity/authentication-failure.ts';
import type { Observer } from '../model/observer.ts';
import { createCallMetrics } from './call-metrics.ts';
import { addJournalMetrics } from './journal-metrics.ts';
import { createServiceMetrics, type ServiceMetrics } from './service-metrics.ts';
import { createSourceMetrics, type SeenSource } from './source-metrics.ts';

export interface Metrics extends Omit<Observer, 'auditHeadsRead'>, ServiceMetrics {
  /** From now on, asks this crib for what is not counted as it happens. */
  watch(crib: WatchedCrib): void;
  /** [SRC-6] Whether the configuration file could be applied. */
  configApplied(succeeded: boolean): void;
  authenticationFailed(reason: AuthenticationFailure): void;
  text(): Promise<string>;
  readonly contentType: string;
}

type WatchedCrib = Pick<Crib, 'load' | 'inventory' | 'statusOf' | 'supervisor' | 'tracing'>;

const buckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60];

/** [OPS-1] The observer of a server: what Prometheus reads at `/metrics`. */
export function createMetrics(): Metrics {
  let watched: WatchedCrib | undefined;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'toolcrib_' });
  const sources = () => (watched === undefined ? [] : seenSources(watched));
  const authenticationFailures = new Counter({
    name: 'toolcrib_authentication_failures_total',
    help: 'Requests without a valid token, by what was wrong with it',
    labelNames: ['reason'],
    registers: [registry],
  });
  // A first failure shows as a rate only where there was a zero before.
  for (const reason of failureReasons) authenticationFailures.inc({ reason }, 0);
  addLoad(registry, () => watched?.load());
  addJournalMetrics(registry, () => watched?.load());
  const ofService = createServiceMetrics({ registry, spans: () => watched?.tracing });
  const ofSources = createSourceMetrics({ registry, sources });
  const ofCalls = createCallMetrics({
    registry,
    namespaceOf: (sourceId) => watched?.inventory.sources.get(sourceId)?.namespace,
    databaseFailed: ofService.databaseFailed,
    buckets,
  });
  return {
    ...ofService,
    callFinished: ofCalls.callFinished,
    recordWritten: ofCalls.recordWritten,
    callNoticed: ofSources.callNoticed,
    callFailedBySource: ofSources.callFailedBySource,
    sourceNoticed: ofSources.sourceNoticed,
    tokenExchanged: countExchanges(registry),
    configApplied: countConfiguration(registry),
    authenticationFailed: (reason) => authenticationFailures.inc({ reason }),
    watch: (crib) => void (watched = crib),
    text() {
      const present = new Set(sources().map(({ namespace }) => namespace));
      ofSources.sweep(present);
      ofCalls.sweep(present);
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

function seenSources({ inventory, statusOf, supervisor }: WatchedCrib): SeenSource[] {
  return [...inventory.sources.values()].map((source) => ({
    namespace: source.namespace,
    enabled: source.enabled,
    running: statusOf(source).state === 'running',
    sessions: supervisor.sessionsOf(source.id),
  }));
}

/** Calls that wait, and breakers that are not closed. */
function addLoad(registry: Registry, load: () => ReturnType<Crib['load']> | undefined): void {
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
}

/** [ID-3] */
function countExchanges(registry: Registry): Metrics['tokenExchanged'] {
  const exchanges = new Counter({
    name: 'toolcrib_token_exchanges_total',
    help: 'Tokens for callers of sources with a token exchange: from memory, fetched, denied to the caller, or not to be had',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'toolcrib_token_exchange_duration_seconds',
    help: 'Time an issuer took to exchange a token',
    buckets,
    registers: [registry],
  });
  const fromMemory = exchanges.labels({ outcome: 'cached' });
  for (const outcome of ['cached', 'exchanged', 'denied', 'failed']) exchanges.inc({ outcome }, 0);
  return (outcome, ms) => {
    if (outcome === 'cached') return fromMemory.inc();
    exchanges.inc({ outcome });
    durations.observe(ms / 1000);
  };
}

/** [SRC-6] The gauges are there only where there is a file, so that nobody is woken because there is none. */
function countConfiguration(registry: Registry): Metrics['configApplied'] {
  let gauges: { success: Gauge; timestamp: Gauge } | undefined;
  const createGauges = () => ({
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
  return (succeeded) => {
    gauges ??= createGauges();
    gauges.success.set(succeeded ? 1 : 0);
    if (succeeded) gauges.timestamp.setToCurrentTime();
  };
}
