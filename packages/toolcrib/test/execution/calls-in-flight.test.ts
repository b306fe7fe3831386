import { expect, test } from 'vitest';
import { createAcceptance } from '../../src/execution/acceptance.ts';
import { createCallsInFlight } from '../../src/execution/calls-in-flight.ts';
import { RunningCall } from '../../src/execution/running-call.ts';
import { samplePrincipal, sampleTool } from '../fixtures/samples.ts';

function begunCall(callId: string): RunningCall {
  const [principal, tool] = [samplePrincipal(), sampleTool()];
  const times = { startedAt: 0, timeoutMs: 1000, maxTimeoutMs: 5000 };
  return Object.assign(new RunningCall({ callId, principal, tool, policies: 'p', policyRevision: 1, ...times }), { begun: true });
}

/** Calls whose notes are written into lists, by a database that can be made to fail. */
function notedInLists() {
  const acceptance = createAcceptance({ warn: () => undefined });
  const seen = { noted: [] as string[], removed: [] as string[], isFailing: false };
  const inFlight = createCallsInFlight({
    server: 'here',
    async write(begun, ended) {
      if (seen.isFailing) throw new Error('disk full');
      seen.noted.push(...begun.map(({ call_id }) => call_id));
      seen.removed.push(...ended);
    },
    acceptance,
    troubleOf: () => 'The disk is full.',
    everyMs: 1,
  });
  const begin = (callId: string) => {
    const call = begunCall(callId);
    inFlight.add(call);
    return call;
  };
  return { inFlight, acceptance, seen, begin };
}

test('calls in flight are found until they are removed, in any order', () => {
  const inFlight = createCallsInFlight();
  const [a, b, c] = ['a', 'b', 'c'].map(begunCall) as [RunningCall, RunningCall, RunningCall];
  for (const call of [a, b, c]) inFlight.add(call);
  inFlight.remove(a);
  expect([inFlight.find('a'), inFlight.find('b'), inFlight.find('c')]).toEqual([undefined, b, c]);
  inFlight.remove(a);
  inFlight.remove(c);
  expect(inFlight.all()).toEqual([b]);
  inFlight.remove(b);
  expect(inFlight.all()).toEqual([]);
});

test('removing a call that never was in flight affects no other', () => {
  const inFlight = createCallsInFlight();
  const call = begunCall('runs');
  inFlight.add(call);
  inFlight.remove(begunCall('never'));
  expect(inFlight.all()).toEqual([call]);
});

test('[SEC-4] a long call is noted once, and removed when it is recorded', async () => {
  const { inFlight, seen, begin } = notedInLists();
  const call = begin('slow');
  await expect.poll(() => seen.noted).toEqual(['slow']);
  const other = begin('later');
  await expect.poll(() => seen.noted).toEqual(['slow', 'later']);
  for (const ended of [call, other]) {
    inFlight.remove(ended);
    inFlight.recorded(ended);
  }
  await expect.poll(() => seen.removed).toEqual(['slow', 'later']);
});

test('a call that ends at once, or waits for its turn, is not noted', async () => {
  const { inFlight, seen, begin } = notedInLists();
  const quick = begin('quick');
  inFlight.remove(quick);
  inFlight.recorded(quick);
  begin('waits').begun = false;
  begin('slow');
  await expect.poll(() => seen.noted).toEqual(['slow']);
  expect(seen.removed).toEqual([]);
});

test('nothing is accepted while calls cannot be noted, and they are noted as soon as they can be', async () => {
  const { inFlight, acceptance, seen, begin } = notedInLists();
  seen.isFailing = true;
  const ended = begin('ended');
  begin('slow');
  await expect.poll(() => acceptance.reasons()).toEqual(['The disk is full.']);
  inFlight.remove(ended);
  seen.isFailing = false;
  await expect.poll(() => acceptance.refusal(), { timeout: 20_000 }).toBeUndefined();
  expect(seen.noted).toEqual(['slow']);
});

test('a server that stops removes its notes, and writes nothing afterwards', async () => {
  const { inFlight, acceptance, seen, begin } = notedInLists();
  const call = begin('slow');
  await expect.poll(() => seen.noted).toEqual(['slow']);
  inFlight.remove(call);
  inFlight.recorded(call);
  await inFlight.close();
  expect(seen.removed).toEqual(['slow']);
  // The database is closed by now: whoever wrote to it would suspend a server that is gone.
  seen.isFailing = true;
  inFlight.recorded(call);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(acceptance.reasons()).toEqual([]);
});
