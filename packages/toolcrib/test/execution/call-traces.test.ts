import { expect, test } from 'vitest';
import { createAcceptance } from '../../src/execution/acceptance.ts';
import { createCallTraces } from '../../src/execution/call-traces.ts';
import { RunningCall } from '../../src/execution/running-call.ts';
import { RunningCalls } from '../../src/execution/running-calls.ts';
import { samplePrincipal, sampleTool } from '../fixtures/samples.ts';

function begunCall(callId: string): RunningCall {
  const [principal, tool] = [samplePrincipal(), sampleTool()];
  const times = { startedAt: 0, timeoutMs: 1000, maxTimeoutMs: 5000 };
  return Object.assign(new RunningCall({ callId, principal, tool, policies: 'p', policyRevision: 1, ...times }), { begun: true });
}

/** Traces that are written into lists, by a database that can be made to fail. */
function tracesInLists() {
  const running = new RunningCalls();
  const acceptance = createAcceptance({ warn: () => undefined });
  const seen = { noted: [] as string[], removed: [] as string[], isFailing: false };
  const traces = createCallTraces(
    {
      server: 'here',
      async write(begun, ended) {
        if (seen.isFailing) throw new Error('disk full');
        seen.noted.push(...begun.map(({ call_id }) => call_id));
        seen.removed.push(...ended);
      },
      acceptance,
      troubleOf: () => 'The disk is full.',
      everyMs: 1,
    },
    running,
  );
  const begin = (callId: string) => {
    const call = begunCall(callId);
    running.add(call);
    traces.noticed();
    return call;
  };
  return { running, acceptance, traces, seen, begin };
}

test('[SEC-4] a call that takes its time is noted once, and removed when it is recorded', async () => {
  const { running, traces, seen, begin } = tracesInLists();
  const call = begin('slow');
  await expect.poll(() => seen.noted).toEqual(['slow']);
  const other = begin('later');
  await expect.poll(() => seen.noted).toEqual(['slow', 'later']);
  for (const ended of [call, other]) {
    running.delete(ended);
    traces.ended(ended);
  }
  await expect.poll(() => seen.removed).toEqual(['slow', 'later']);
});

test('a call that ends at once, or waits for its turn, is not noted', async () => {
  const { running, traces, seen, begin } = tracesInLists();
  const quick = begin('quick');
  running.delete(quick);
  traces.ended(quick);
  begin('waits').begun = false;
  begin('slow');
  await expect.poll(() => seen.noted).toEqual(['slow']);
  expect(seen.removed).toEqual([]);
});

test('while calls cannot be noted nothing is accepted, and they are noted when they can be', async () => {
  const { running, acceptance, seen, begin } = tracesInLists();
  seen.isFailing = true;
  const ended = begin('ended');
  begin('slow');
  await expect.poll(() => acceptance.reasons()).toEqual(['The disk is full.']);
  running.delete(ended);
  seen.isFailing = false;
  await expect.poll(() => acceptance.refusal, { timeout: 20_000 }).toBeUndefined();
  expect(seen.noted).toEqual(['slow']);
});

test('a server that stops removes what it has noted, and writes nothing afterwards', async () => {
  const { running, acceptance, traces, seen, begin } = tracesInLists();
  const call = begin('slow');
  await expect.poll(() => seen.noted).toEqual(['slow']);
  running.delete(call);
  traces.ended(call);
  await traces.close();
  expect(seen.removed).toEqual(['slow']);
  // The database is closed by now: whoever wrote to it would suspend a server that is gone.
  seen.isFailing = true;
  traces.ended(call);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(acceptance.reasons()).toEqual([]);
});
