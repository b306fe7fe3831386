import { expect, test } from 'vitest';
import { RunningCall } from '../../src/execution/running-call.ts';
import { RunningCalls } from '../../src/execution/running-calls.ts';
import { samplePrincipal, sampleTool } from '../fixtures/samples.ts';

function callNamed(callId: string): RunningCall {
  const [principal, tool] = [samplePrincipal(), sampleTool()];
  return new RunningCall({ callId, principal, tool, policies: '', policyRevision: 1, startedAt: 0, timeoutMs: 1000, maxTimeoutMs: 1000 });
}

test('calls that run are found until they are let go of, in whatever order', () => {
  const running = new RunningCalls();
  const [a, b, c] = ['a', 'b', 'c'].map(callNamed) as [RunningCall, RunningCall, RunningCall];
  for (const call of [a, b, c]) running.add(call);
  running.delete(a);
  expect([running.find('a'), running.find('b'), running.find('c')]).toEqual([undefined, b, c]);
  running.delete(a);
  running.delete(c);
  expect(running.all()).toEqual([b]);
  running.delete(b);
  expect(running.all()).toEqual([]);
});

test('a call that never ran is let go of without touching another', () => {
  const running = new RunningCalls();
  const call = callNamed('runs');
  running.add(call);
  running.delete(callNamed('never'));
  expect(running.all()).toEqual([call]);
});
