import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createCallMetrics } from '../../src/http/call-metrics.ts';
import type { CallRecord } from '../../src/model/call.ts';

const usual = {
  started_at: 0,
  duration_us: 1,
  issuer: 'i',
  subject: 's',
  client: null,
  user_name: null,
  definition_hash: null,
  policies: '',
  policy_revision: 0,
  error_origin: null,
  door: null,
  agent: null,
};

function record(tool: string, given: Partial<CallRecord> = {}): CallRecord {
  return { ...usual, call_id: 'c', tool_id: tool, tool, source_id: 'one', status: 'completed', error_code: null, ...given };
}

function counting(maxTools: number) {
  const registry = new Registry();
  const metrics = createCallMetrics({
    registry,
    namespaceOf: (id) => (id === 'one' ? 'ns' : undefined),
    databaseFailed: () => undefined,
    buckets: [1],
    maxTools,
  });
  const series = async () => {
    const { values } = await calls();
    return values.map(({ labels, value }) => [labels.tool, labels.source, labels.status, value]);
  };
  async function calls() {
    const found = registry.getSingleMetric('toolcrib_tool_calls_total');
    if (found === undefined) throw new Error('There is no such metric');
    return found.get();
  }
  return { metrics, series, registry };
}

test('[OPS-1] calls of each tool are counted by outcome', async () => {
  const { metrics, series } = counting(10);
  metrics.callFinished(record('ns:a'));
  metrics.callFinished(record('ns:a'));
  metrics.callFinished(record('ns:a', { status: 'failed', error_code: 'NETWORK_ERROR' }));
  expect(await series()).toEqual([
    ['ns:a', 'ns', 'completed', 2],
    ['ns:a', 'ns', 'failed', 1],
  ]);
});

test('[OPS-1] the number of series is bounded, however many tools there are', async () => {
  const { metrics, series } = counting(2);
  for (let made = 0; made < 100; made++) metrics.callFinished(record(`ns:tool_${made}`));
  expect(await series()).toEqual([
    ['ns:tool_0', 'ns', 'completed', 1],
    ['ns:tool_1', 'ns', 'completed', 1],
    ['other', 'other', 'completed', 98],
  ]);
});

test('[OPS-1] denied calls are counted without the name, which the caller chose', async () => {
  const { metrics, series, registry } = counting(2);
  metrics.callFinished(record('anything at all', { tool_id: null, source_id: null, status: 'failed', error_code: 'NOT_FOUND' }));
  expect(await series()).toEqual([]);
  expect(await registry.metrics()).toContain('toolcrib_denied_calls_total 1');
});

test('[OPS-1] a renamed tool, or one whose source is gone, leaves nothing behind', async () => {
  const { metrics, series } = counting(2);
  metrics.callFinished(record('ns:before', { tool_id: 'same' }));
  metrics.callFinished(record('ns:after', { tool_id: 'same' }));
  expect(await series()).toEqual([['ns:after', 'ns', 'completed', 1]]);
  metrics.sweep(new Set(['another']));
  expect(await series()).toEqual([]);
});
