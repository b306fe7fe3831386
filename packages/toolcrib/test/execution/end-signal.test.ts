import { expect, test } from 'vitest';
import { EndSwitch } from '../../src/model/end-signal.ts';

test('a switch tells everybody once, with the first reason', () => {
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
