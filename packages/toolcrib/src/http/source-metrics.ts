import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { CallNotice } from '../execution/call-notice.ts';
import type { CallRecord } from '../model/call.ts';
import { httpStatusByCode, type ErrorCode } from '../model/crib-error.ts';
import type { SessionCounts } from '../supervision/session-counts.ts';
import type { SourceNotice } from '../supervision/source-notice.ts';

export interface SourceMetrics {
  callFinished(record: CallRecord): void;
  callNoticed(notice: CallNotice, namespace: string): void;
  callFailed(code: ErrorCode, namespace: string): void;
  noticed(notice: SourceNotice, namespace: string): void;
  /** To be called before the metrics are read: what was deleted is no longer among them. */
  sweep(): void;
}

/** A source at this moment. */
export interface SeenSource {
  namespace: string;
  enabled: boolean;
  running: boolean;
  /** Undefined for what comes with Toolcrib. */
  sessions: SessionCounts | undefined;
}

interface SourceMetricsInput {
  registry: Registry;
  namespaceOf(sourceId: string): string | undefined;
  sources(): SeenSource[];
  /** In seconds. */
  buckets: number[];
}

/** [MCP-10] What is counted for each source, under its namespace. */
export function createSourceMetrics({ registry, namespaceOf, sources, buckets }: SourceMetricsInput): SourceMetrics {
  const counted = (name: string, help: string) => new Counter({ name, help, labelNames: ['source'], registers: [registry] });
  const calls: Record<CallNotice, Counter<'source'>> = {
    retried: counted('toolcrib_call_retries_total', 'Further attempts of calls whose connection failed'),
    cut: counted('toolcrib_cut_answers_total', 'Answers that were too large to be given whole'),
    'output-schema-violated': counted('toolcrib_output_schema_violations_total', 'Answers that break the output schema of their tool'),
  };
  const events: Record<SourceNotice, Counter<'source'>> = {
    restarted: counted('toolcrib_source_restarts_total', 'Times a lasting session or its process was lost and had to be opened again'),
    'heartbeat-failed': counted('toolcrib_source_heartbeat_failures_total', 'Heartbeats that were not answered in time'),
    'standby-used': counted('toolcrib_standby_hits_total', 'Calls for which a session was ready'),
    'standby-missed': counted(
      'toolcrib_standby_misses_total',
      'Calls that had to wait for a session to be opened, though some should be ready',
    ),
  };
  const durations = new Histogram({
    name: 'toolcrib_source_call_duration_seconds',
    help: 'Time the calls of a source took; those that were refused before they reached it are not among them',
    labelNames: ['source'],
    buckets,
    registers: [registry],
  });
  const errors = new Counter({
    name: 'toolcrib_source_errors_total',
    help: 'Calls that failed through the fault of their source (origin source); what a tool itself reports is a result',
    labelNames: ['source', 'code'],
    registers: [registry],
  });
  const up: Gauge<'source'> = new Gauge({
    name: 'toolcrib_source_up',
    help: 'Whether a source that is enabled is running',
    labelNames: ['source'],
    registers: [registry],
    collect() {
      up.reset();
      // Nobody should be called for what is meant to be off.
      for (const { namespace, enabled, running } of sources()) if (enabled) up.set({ source: namespace }, running ? 1 : 0);
    },
  });
  const sessions: Gauge<'source' | 'kind'> = new Gauge({
    name: 'toolcrib_source_sessions',
    help: 'Open conversations with a source: its lasting one, those ready for a call, those of calls under way, those of users',
    labelNames: ['source', 'kind'],
    registers: [registry],
    collect() {
      sessions.reset();
      for (const { namespace: source, sessions: open } of sources()) {
        for (const [kind, count] of Object.entries(open ?? {})) sessions.set({ source, kind }, count);
      }
    },
  });

  /** The histogram of each source, found once, so that a call pays for its observation alone. */
  const observing = new Map<string, { namespace: string; observe(seconds: number): void }>();
  const known = new Set<string>();

  function know(source: string): void {
    if (known.has(source)) return;
    known.add(source);
    // The first of them is only seen as a rate where there was a zero before.
    for (const counter of Object.values(events)) counter.inc({ source }, 0);
  }

  function observerOf(sourceId: string): { observe(seconds: number): void } | undefined {
    const namespace = namespaceOf(sourceId);
    if (namespace === undefined) return undefined;
    know(namespace);
    const observer = { namespace, observe: durations.labels({ source: namespace }).observe };
    observing.set(sourceId, observer);
    return observer;
  }

  function forget(source: string): void {
    known.delete(source);
    for (const metric of [...Object.values(calls), ...Object.values(events), durations]) metric.remove({ source });
    for (const code of Object.keys(httpStatusByCode)) errors.remove({ source, code });
  }

  return {
    callFinished({ source_id, status, duration_us }) {
      // Refused calls took no time, and would make a source look quicker than it is.
      if (source_id === null || (duration_us === 0 && status === 'failed')) return;
      (observing.get(source_id) ?? observerOf(source_id))?.observe(duration_us / 1e6);
    },
    callNoticed(notice, source) {
      know(source);
      calls[notice].inc({ source });
    },
    callFailed(code, source) {
      know(source);
      errors.inc({ source, code });
    },
    noticed(notice, source) {
      know(source);
      events[notice].inc({ source });
    },
    sweep() {
      const present = new Set(sources().map(({ namespace }) => namespace));
      for (const namespace of known) if (!present.has(namespace)) forget(namespace);
      for (const namespace of present) know(namespace);
      // Deleted, or called otherwise.
      for (const [id, { namespace }] of observing) if (namespaceOf(id) !== namespace) observing.delete(id);
    },
  };
}
