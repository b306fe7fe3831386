import { Counter, Gauge, type Registry } from 'prom-client';
import { httpStatusByCode } from '../model/crib-error.ts';
import type { CallNotice, Observer, SourceNotice } from '../model/observer.ts';
import type { SessionCounts } from '../sources/open-source.ts';

export interface SourceMetrics extends Pick<Observer, 'callNoticed' | 'callFailedBySource' | 'sourceNoticed'> {
  /** Call it before the metrics are read: what was deleted is no longer among them. `present` has the namespaces there are. */
  sweep(present: ReadonlySet<string>): void;
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
  sources(): SeenSource[];
}

/** [MCP-10] Metrics of each source, labelled with its namespace. */
export function createSourceMetrics({ registry, sources }: SourceMetricsInput): SourceMetrics {
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
      'Calls that had to wait for a new session although sessions are started ahead',
    ),
  };
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

  const known = new Set<string>();

  function know(source: string): void {
    if (known.has(source)) return;
    known.add(source);
    // The first of them is only seen as a rate where there was a zero before.
    for (const counter of Object.values(events)) counter.inc({ source }, 0);
  }

  function forget(source: string): void {
    known.delete(source);
    for (const metric of [...Object.values(calls), ...Object.values(events)]) metric.remove({ source });
    for (const code of Object.keys(httpStatusByCode)) errors.remove({ source, code });
  }

  return {
    callNoticed(notice, { namespace: source }) {
      know(source);
      calls[notice].inc({ source });
    },
    callFailedBySource(code, { namespace: source }) {
      know(source);
      errors.inc({ source, code });
    },
    sourceNoticed(notice, { namespace: source }) {
      know(source);
      events[notice].inc({ source });
    },
    sweep(present) {
      for (const namespace of known) if (!present.has(namespace)) forget(namespace);
      for (const namespace of present) know(namespace);
    },
  };
}
