import { expect, test } from 'vitest';
import { createAcceptance, staleAfterMs } from '../../src/execution/acceptance.ts';

function acceptanceWithLog() {
  const warnings: string[] = [];
  return { acceptance: createAcceptance({ warn: (message) => warnings.push(message) }), warnings };
}

test('everything is accepted while there is no objection', () => {
  const { acceptance } = acceptanceWithLog();
  expect(acceptance.refusal()).toBeUndefined();
  expect(acceptance.reasons()).toEqual([]);
});

test('the refusal says why, and when to try again', () => {
  const { acceptance } = acceptanceWithLog();
  acceptance.suspend('record', 'The disk is full.');
  expect(acceptance.refusal()).toMatchObject({ httpStatus: 503, message: 'The disk is full. Try again shortly.', retryAfterMs: 1000 });
  expect(acceptance.reasons()).toEqual(['The disk is full.']);
});

test('every cause has to be gone before anything is accepted again', () => {
  const { acceptance, warnings } = acceptanceWithLog();
  acceptance.suspend('record', 'The disk is full.');
  acceptance.suspend('data-folder', 'The data folder is gone.');
  acceptance.resume('record');
  expect(acceptance.refusal()?.message).toBe('The data folder is gone. Try again shortly.');
  acceptance.resume('data-folder');
  expect(acceptance.refusal()).toBeUndefined();
  expect(warnings.at(-1)).toBe('Calls and changes are accepted again');
});

test('the log has one line for the beginning and one for the end, however often it is reported', () => {
  const { acceptance, warnings } = acceptanceWithLog();
  acceptance.resume('record');
  acceptance.suspend('record', 'The disk is full.');
  acceptance.suspend('record', 'The disk is full.');
  acceptance.resume('record');
  acceptance.resume('record');
  expect(warnings).toEqual(['No calls or changes are accepted: The disk is full.', 'Calls and changes are accepted again']);
});

test('[POL-5] a server that knows of others refuses when it has not heard of them for too long, and not before', () => {
  let time = 0;
  const acceptance = createAcceptance({ warn: () => undefined, now: () => time });
  time = 10 * staleAfterMs;
  expect(acceptance.refusal()).toBeUndefined();
  acceptance.changesSeen(time);
  time += staleAfterMs;
  expect(acceptance.refusal()).toBeUndefined();
  time += 1;
  expect(acceptance.refusal()?.message).toContain('Changes made on other servers cannot be seen');
  acceptance.changesSeen(time);
  expect(acceptance.refusal()).toBeUndefined();
});

test('[POL-5] a check that took too long says nothing about the present', () => {
  let time = 0;
  const acceptance = createAcceptance({ warn: () => undefined, now: () => time });
  acceptance.changesSeen(0);
  time = 2 * staleAfterMs;
  expect(acceptance.reasons()).toHaveLength(1);
  acceptance.changesSeen(staleAfterMs - 1);
  expect(acceptance.reasons()).toHaveLength(1);
});
