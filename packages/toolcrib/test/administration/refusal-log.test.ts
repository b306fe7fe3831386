import { expect, test } from 'vitest';
import { createRefusalLog } from '../../src/administration/refusal-log.ts';
import type { Refusal } from '../../src/model/refusal.ts';
import { sampleRefusal } from '../contract/store-samples.ts';

const never = 2 ** 30;
const { id: _id, at: _at, count: _count, ...noted } = sampleRefusal();

function collecting() {
  const written: Refusal[][] = [];
  const warnings: string[] = [];
  let broken = false;
  const log = createRefusalLog({
    collectMs: never,
    mostListed: 3,
    warn: (message) => warnings.push(message),
    async append(refusals) {
      if (broken) throw new Error('no database');
      written.push([...refusals]);
    },
  });
  return { log, written, warnings, breakDown: (now: boolean) => (broken = now) };
}

const counts = (rows: Refusal[] | undefined) => rows?.map(({ kind, count, address }) => [kind, count, address]);

test('[SEC-4] a flood of refusals becomes a few lines and a count', async () => {
  const { log, written } = collecting();
  for (let time = 0; time < 100; time++) log.note(noted);
  log.note({ ...noted, kind: 'authorization' });
  await log.flush();
  await log.flush();
  expect(written.map(counts)).toEqual([
    [
      ['authentication', 1, '127.0.0.1'],
      ['authentication', 1, '127.0.0.1'],
      ['authentication', 1, '127.0.0.1'],
      // A flood of strangers hides nothing that somebody we know has tried.
      ['authorization', 1, '127.0.0.1'],
      ['authentication', 97, null],
    ],
  ]);
  log.note(noted);
  await log.flush();
  expect(counts(written[1])).toEqual([['authentication', 1, '127.0.0.1']]);
});

test('[SEC-4] refusals that could not be written are written later, and never pile up', async () => {
  const { log, written, warnings, breakDown } = collecting();
  breakDown(true);
  for (let time = 0; time < 5; time++) {
    for (let count = 0; count < 10; count++) log.note(noted);
    await log.flush();
  }
  expect(warnings).toHaveLength(1);
  breakDown(false);
  await log.flush();
  expect(written).toHaveLength(1);
  expect(written[0]).toHaveLength(4);
  expect(written[0]?.reduce((sum, { count }) => sum + count, 0)).toBe(50);
});
