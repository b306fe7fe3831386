import { Counter, type Registry } from 'prom-client';
import type { CallStatus } from '../model/call.ts';
import type { Observer } from '../model/observer.ts';
import { QuickHistogram, type HistogramSeries } from './quick-histogram.ts';

export interface CallMetrics extends Pick<Observer, 'callFinished' | 'recordWritten'> {
  /** Call it before the metrics are read: what was deleted or renamed is no longer among them. `present` has the namespaces there are. */
  sweep(present: ReadonlySet<string>): void;
}

interface CallMetricsInput {
  registry: Registry;
  namespaceOf(sourceId: string): string | undefined;
  databaseFailed(during: 'record'): void;
  /** In seconds. */
  buckets: readonly number[];
  /** Each costs a series in every server of a monitoring system: those beyond are counted together. */
  maxTools?: number;
}

interface CountedTool {
  tool: string;
  source: string;
  byStatus: Map<CallStatus, number>;
}

interface TimedSource {
  namespace: string;
  series: HistogramSeries;
}

/** [OPS-1] [MCP-10] Metrics of calls: how they ended, how long they took, and how long their record took to write. */
export function createCallMetrics(input: CallMetricsInput): CallMetrics {
  const { registry, namespaceOf, databaseFailed, buckets, maxTools = 2000 } = input;
  const { calls, completed, durations, sourceDurations, denied, records } = createInstruments(registry, buckets);
  /** By the id of the source: the series is looked up once, so that a call pays for its observation alone. */
  const sources = new Map<string, TimedSource>();
  /** By the id of the tool: a series is looked up only when it is read, so that a call pays for an addition and nothing more. */
  const tools = new Map<string, CountedTool>();
  const others: CountedTool = { tool: 'other', source: 'other', byStatus: new Map() };
  const toolCalls: Counter<'tool' | 'source' | 'status'> = new Counter({
    name: 'toolcrib_tool_calls_total',
    help: 'Calls of each tool, by how they ended; tools beyond the first 2000 are counted together as other',
    labelNames: ['tool', 'source', 'status'],
    registers: [registry],
    collect() {
      toolCalls.reset();
      for (const { tool, source, byStatus } of [...tools.values(), others]) {
        for (const [status, count] of byStatus) toolCalls.inc({ tool, source, status }, count);
      }
    },
  });

  function timedSource(sourceId: string): TimedSource | undefined {
    const namespace = namespaceOf(sourceId);
    if (namespace === undefined) return undefined;
    const timed = { namespace, series: sourceDurations.series(namespace) };
    sources.set(sourceId, timed);
    return timed;
  }

  function countedTool(toolId: string, tool: string, sourceId: string | null): CountedTool | undefined {
    tools.delete(toolId);
    const source = sourceId === null ? undefined : namespaceOf(sourceId);
    if (source === undefined) return undefined;
    if (tools.size >= maxTools) return others;
    const counted = { tool, source, byStatus: new Map() };
    tools.set(toolId, counted);
    return counted;
  }

  return {
    callFinished({ status, error_code, error_origin, duration_us, source_id, tool_id, tool }) {
      const seconds = duration_us / 1e6;
      if (status === 'completed') completed.count++;
      else calls.inc({ status, code: error_code ?? '', origin: error_origin ?? '' });
      durations.observe(seconds);
      // Refused calls took no time, and would make a source look quicker than it is.
      const isRefused = duration_us === 0 && status === 'failed';
      if (source_id !== null && !isRefused) (sources.get(source_id) ?? timedSource(source_id))?.series.observe(seconds);
      if (tool_id === null) return denied.inc();
      let counted = tools.get(tool_id);
      // A tool may have been renamed.
      if (counted === undefined || counted.tool !== tool) counted = countedTool(tool_id, tool, source_id);
      counted?.byStatus.set(status, (counted.byStatus.get(status) ?? 0) + 1);
    },
    recordWritten({ seconds, failed }) {
      records.observe(seconds);
      if (failed) databaseFailed('record');
    },
    sweep(present) {
      for (const [id, { namespace }] of sources) {
        if (!present.has(namespace)) sourceDurations.remove(namespace);
        if (namespaceOf(id) !== namespace) sources.delete(id);
      }
      for (const [id, { source }] of tools) if (!present.has(source)) tools.delete(id);
    },
  };
}

function createInstruments(registry: Registry, buckets: readonly number[]) {
  const registers = [registry];
  // Nearly all calls: added to the others when they are read.
  const completed = { count: 0, counted: 0 };
  const calls: Counter<'status' | 'code' | 'origin'> = new Counter({
    name: 'toolcrib_calls_total',
    help: 'Finished and refused calls: how they ended, and of those that failed whose failure it was (tool, source, gateway, caller)',
    labelNames: ['status', 'code', 'origin'],
    registers,
    collect() {
      calls.inc({ status: 'completed', code: '', origin: '' }, completed.count - completed.counted);
      completed.counted = completed.count;
    },
  });
  return {
    calls,
    completed,
    durations: new QuickHistogram({
      name: 'toolcrib_call_duration_seconds',
      help: 'Time a source took to answer',
      buckets,
      registry,
    }).series(''),
    sourceDurations: new QuickHistogram({
      name: 'toolcrib_source_call_duration_seconds',
      help: 'Time the calls of a source took; those that were refused before they reached it are not among them',
      label: 'source',
      buckets,
      registry,
    }),
    denied: new Counter({
      name: 'toolcrib_denied_calls_total',
      help: 'Calls of tools that are not there for their caller: denied by policy, or unknown',
      registers,
    }),
    records: new QuickHistogram({
      name: 'toolcrib_record_duration_seconds',
      help: 'Time it took to write one batch of the record of calls, for which every call of the batch waits',
      buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
      registry,
    }).series(''),
  };
}
