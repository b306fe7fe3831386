import { expect, test } from 'vitest';
import { EndSwitch } from '../../src/model/end-signal.ts';

test('an end signal tells everybody once, with the first reason', () => {
  const ending = new EndSwitch();
  const heard: unknown[] = [];
  const [stays, leaves] = [() => heard.push(ending.reason), () => heard.push('left')];
  for (const listener of [stays, leaves, stays]) ending.addEventListener('abort', listener);
  ending.removeEventListener('abort', leaves);
  expect([ending.aborted, heard]).toEqual([false, []]);
  ending.end('first');
  ending.end('second');
  ending.addEventListener('abort', stays);
  expect([ending.aborted, ending.reason, heard]).toEqual([true, 'first', ['first', 'first']]);
});

test('a switch gives an AbortSignal to those who need one, before and after its end', () => {
  const ending = new EndSwitch();
  const early = ending.toAbortSignal();
  expect(early.aborted).toBe(false);
  expect(() => ending.throwIfAborted()).not.toThrow();
  const reason = new Error('enough');
  ending.end(reason);
  expect([early.aborted, early.reason, ending.toAbortSignal()]).toEqual([true, reason, early]);
  const late = new EndSwitch();
  late.end(reason);
  expect(late.toAbortSignal().reason).toBe(reason);
  expect(() => late.throwIfAborted()).toThrow(reason);
});
