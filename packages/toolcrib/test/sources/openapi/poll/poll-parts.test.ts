import { expect, test } from 'vitest';
import type { Json } from '../../../../src/model/json.ts';
import { longestPauses, pauseBefore } from '../../../../src/model/poll-pauses.ts';
import { pollProfileSchema } from '../../../../src/model/poll-profile.ts';
import { fieldAt } from '../../../../src/sources/openapi/poll/field-at.ts';
import { retryAfterOf } from '../../../../src/sources/upstream/http/retry-after.ts';
import { startRequest } from '../../../../src/sources/openapi/poll/start-request.ts';
import { keyParameter, operationAt } from './following.ts';

const usual = pollProfileSchema.parse({});

test('[POLL-1] pauses start with one second, grow by half, and stop growing at thirty', () => {
  expect([1, 2, 3, 9, 10, 60].map((poll) => pauseBefore(poll, usual))).toEqual([1000, 1500, 2250, 25_629, 30_000, 30_000]);
  expect(longestPauses(pollProfileSchema.parse({ max_attempts: 3 }))).toBe(4750);
  expect(pauseBefore(10_000, pollProfileSchema.parse({ backoff: 10 }))).toBe(30_000);
});

test.each<[string, Json | undefined]>([
  ['status', 'ok'],
  ['jobs[1].id', 2],
  ['jobs.0.id', 1],
  ['jobs[2].id', undefined],
  ['status.length', undefined],
  ['constructor', undefined],
  ['nothing', null],
  ['nothing.more', undefined],
])('[POLL-1] the field at %s is found or undefined', (path, found) => {
  expect(fieldAt({ status: 'ok', jobs: [{ id: 1 }, { id: 2 }], nothing: null }, path)).toBe(found);
});

test.each([
  ['3', 3000],
  [' 0 ', 0],
  ['Thu, 01 Jan 1970 00:00:05 GMT', 4000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['-1', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['2026', 2_026_000],
  [undefined, undefined],
])('Retry-After is understood or ignored: %s', (header, ms) => {
  expect(retryAfterOf(header, 1000)).toBe(ms);
});

test.each([
  ['POST', false],
  ['PATCH', false],
  ['PUT', true],
  ['DELETE', true],
  ['GET', true],
])('[POLL-2] a %s is repeated after a crash: %s', (method, repeatable) => {
  expect(startRequest(operationAt('http://x', { method }), { a: 1 }, 'call')).toEqual({ args: { a: 1 }, repeatable });
});

test('[POLL-2] a key makes everything repeatable', () => {
  const operation = operationAt('http://x', { parameters: [{ ...keyParameter, name: 'X-Idempotency-Key', argument: 'key' }] });
  expect(startRequest(operation, {}, 'call')).toEqual({ args: { key: 'call' }, repeatable: true });
  expect(startRequest(operation, { key: 'own' }, 'call')).toEqual({ args: { key: 'own' }, repeatable: true });
});
