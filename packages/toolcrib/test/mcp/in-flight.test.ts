import { expect, test } from 'vitest';
import { InFlight } from '../../src/sources/mcp/session/requests.ts';

test('an entry is found by its number until it is taken', () => {
  const inFlight = new InFlight<string>(100);
  const id = inFlight.add('one');
  expect([inFlight.get(id), inFlight.get(id + 64), inFlight.get(String(id)), inFlight.get(undefined)]).toEqual([
    'one',
    undefined,
    undefined,
    undefined,
  ]);
  expect([inFlight.take(id), inFlight.take(id), inFlight.get(id)]).toEqual(['one', undefined, undefined]);
});

test('numbers only grow, and none is given twice, however long an entry waits', () => {
  const inFlight = new InFlight<string>(0);
  const waiting = inFlight.add('waits');
  const given = Array.from({ length: 1000 }, () => {
    const id = inFlight.add('quick');
    inFlight.take(id);
    return id;
  });
  expect(given.every((id, index) => id > (given[index - 1] ?? waiting))).toBe(true);
  expect(inFlight.get(waiting)).toBe('waits');
});

test('there is room for any number at once', () => {
  const inFlight = new InFlight<number>(1_000_000_000);
  const ids = Array.from({ length: 10_000 }, (_, index) => inFlight.add(index));
  expect(ids.map((id) => inFlight.get(id))).toEqual(Array.from({ length: 10_000 }, (_, index) => index));
  expect(inFlight.takeAll()).toHaveLength(10_000);
  expect([inFlight.values(), inFlight.get(ids[0])]).toEqual([[], undefined]);
});
