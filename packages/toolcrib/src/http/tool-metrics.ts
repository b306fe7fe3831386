import { Counter, type Registry } from 'prom-client';
import type { CallRecord, CallStatus } from '../model/call.ts';

export interface ToolMetrics {
  callFinished(record: CallRecord): void;
  /** To be called before the metrics are read: what was deleted, or is called otherwise, is no longer among them. */
  sweep(present: ReadonlySet<string>): void;
}

interface Counted {
  tool: string;
  source: string;
  byStatus: Map<CallStatus, number>;
}

interface ToolMetricsInput {
  registry: Registry;
  namespaceOf(sourceId: string): string | undefined;
  /** Each costs a series in every server of a monitoring system: those beyond are counted together. */
  maxTools?: number;
}

/** [OPS-1] How much each tool is used. */
export function createToolMetrics({ registry, namespaceOf, maxTools = 2000 }: ToolMetricsInput): ToolMetrics {
  /** By the id of the tool. A series is only looked up when it is read, so that a call pays for an addition and nothing more. */
  const counted = new Map<string, Counted>();
  const others: Counted = { tool: 'other', source: 'other', byStatus: new Map() };
  const calls: Counter<'tool' | 'source' | 'status'> = new Counter({
    name: 'toolcrib_tool_calls_total',
    help: 'Calls of each tool, by how they ended; tools beyond the first 2000 are counted together as other',
    labelNames: ['tool', 'source', 'status'],
    registers: [registry],
    collect() {
      calls.reset();
      for (const { tool, source, byStatus } of [...counted.values(), others]) {
        for (const [status, count] of byStatus) calls.inc({ tool, source, status }, count);
      }
    },
  });
  const denied = new Counter({
    name: 'toolcrib_denied_calls_total',
    help: 'Calls of tools that are not there for their caller: denied by policy, or unknown',
    registers: [registry],
  });

  function know({ tool, source_id }: CallRecord, toolId: string): Counted | undefined {
    const source = source_id === null ? undefined : namespaceOf(source_id);
    if (source === undefined) return undefined;
    if (counted.size >= maxTools) return others;
    const known = { tool, source, byStatus: new Map() };
    counted.set(toolId, known);
    return known;
  }

  return {
    callFinished(record) {
      const { tool_id, status } = record;
      if (tool_id === null) return denied.inc();
      let known = counted.get(tool_id);
      // It is called otherwise now.
      if (known === undefined || known.tool !== record.tool) {
        counted.delete(tool_id);
        known = know(record, tool_id);
      }
      known?.byStatus.set(status, (known.byStatus.get(status) ?? 0) + 1);
    },
    sweep(present) {
      for (const [id, { source }] of counted) if (!present.has(source)) counted.delete(id);
    },
  };
}
