import { expect, test } from 'vitest';
import { createAcceptance } from '../../src/execution/acceptance.ts';

function acceptanceWithLog() {
  const warnings: string[] = [];
  return { acceptance: createAcceptance({ warn: (message) => warnings.push(message) }), warnings };
}

test('everything is accepted as long as nobody objects', () => {
  const { acceptance } = acceptanceWithLog();
  expect(acceptance.refusal).toBeUndefined();
  expect(acceptance.reasons()).toEqual([]);
});

test('the refusal says why, and when to try again', () => {
  const { acceptance } = acceptanceWithLog();
  acceptance.suspend('record', 'The disk is full.');
  expect(acceptance.refusal).toMatchObject({ httpStatus: 503, message: 'The disk is full. Try again shortly.', retryAfterMs: 1000 });
  expect(acceptance.reasons()).toEqual(['The disk is full.']);
});

test('every cause has to be gone before anything is accepted again', () => {
  const { acceptance, warnings } = acceptanceWithLog();
  acceptance.suspend('record', 'The disk is full.');
  acceptance.suspend('data-folder', 'The data folder is gone.');
  acceptance.resume('record');
  expect(acceptance.refusal?.message).toBe('The data folder is gone. Try again shortly.');
  acceptance.resume('data-folder');
  expect(acceptance.refusal).toBeUndefined();
  expect(warnings.at(-1)).toBe('Calls and changes are accepted again');
});

test('the log has one line for the beginning and one for the end, however often it is said', () => {
  const { acceptance, warnings } = acceptanceWithLog();
  acceptance.resume('record');
  acceptance.suspend('record', 'The disk is full.');
  acceptance.suspend('record', 'The disk is full.');
  acceptance.resume('record');
  acceptance.resume('record');
  expect(warnings).toEqual(['No calls or changes are accepted: The disk is full.', 'Calls and changes are accepted again']);
});
