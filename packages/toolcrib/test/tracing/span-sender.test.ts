import { BasicTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { ConnectionError } from '../../src/model/named-errors.ts';
import { SpanSender } from '../../src/tracing/span-sender.ts';
import { untilSeen } from '../running-server.ts';

type Post = (batch: ReadableSpan[], signal: AbortSignal) => Promise<number>;

function sending(post: Post, options: { maxWaiting?: number; batchSize?: number; everyMs?: number; timeoutMs?: number } = {}) {
  const warnings: string[] = [];
  const sender = new SpanSender({ post, warn: (message) => warnings.push(message), everyMs: 1, ...options });
  const tracer = new BasicTracerProvider({ spanProcessors: [sender] }).getTracer('test');
  const finish = (...names: string[]) => names.forEach((name) => tracer.startSpan(name).end());
  return { sender, warnings, finish };
}

test('[OPS-1] spans are sent in order, in batches', async () => {
  const batches: string[][] = [];
  const { sender, finish } = sending(
    async (batch) => {
      batches.push(batch.map(({ name }) => name));
      return 200;
    },
    { batchSize: 2, everyMs: 60_000 },
  );
  finish('a', 'b', 'c');
  await sender.close(1000);
  expect(batches).toEqual([['a', 'b'], ['c']]);
  expect([sender.sent, sender.dropped]).toEqual([3, 0]);
});

test('[OPS-1] a collector that is down is reported once, and gets the waiting spans when it is back', async () => {
  let away = true;
  let attempts = 0;
  const received: string[] = [];
  const { sender, warnings, finish } = sending(async (batch) => {
    attempts++;
    if (away) throw new ConnectionError('nobody there');
    received.push(...batch.map(({ name }) => name));
    return 200;
  });
  finish('a', 'b');
  await untilSeen(() => attempts > 3);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('nobody there');
  away = false;
  await untilSeen(() => sender.sent === 2);
  expect(received).toEqual(['a', 'b']);
  expect(warnings).toHaveLength(2);
  await sender.close(1000);
});

test('[OPS-1] spans that do not fit into the queue are dropped and counted', async () => {
  const { sender, finish } = sending(async () => 503, { maxWaiting: 3, everyMs: 60_000 });
  finish('a', 'b', 'c', 'd', 'e');
  expect(sender.dropped).toBe(2);
  await sender.close(1000);
  expect([sender.sent, sender.dropped]).toEqual([0, 5]);
});

test('[OPS-1] spans that are refused for good are not sent again', async () => {
  let attempts = 0;
  const { sender, finish } = sending(async () => {
    attempts++;
    return 400;
  });
  finish('a');
  await untilSeen(() => sender.dropped === 1);
  await sender.close(1000);
  expect(attempts).toBe(1);
});

test('[OPS-1] a collector that never answers does not delay the stop', async () => {
  const never: Post = (_batch, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const { sender, finish } = sending(never);
  finish('a');
  await sender.close(1);
  expect([sender.sent, sender.dropped]).toEqual([0, 1]);
  finish('too late');
  expect(sender.dropped).toBe(2);
});
