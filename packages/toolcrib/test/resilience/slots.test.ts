import { describe, expect, test } from 'vitest';
import { createSlots, type Slots } from '../../src/resilience/slots.ts';

const limits = { concurrency: 1, queue: 3 };

/** Takes a place for somebody and notes in `order` when it is theirs. */
function come(places: Slots, caller: string, order: string[], given = limits) {
  const waiting = places.take('tool', given, caller);
  if (waiting === undefined) order.push(caller);
  void waiting?.ready.then(() => order.push(caller));
  return waiting;
}

const refusal = (places: Slots, given: object) => () => places.check('tool', given);
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('[EXEC-7] slots', () => {
  test('are unlimited by default, and nothing is remembered', () => {
    const places = createSlots({ who: 'This tool' });
    for (let call = 0; call < 100; call++) {
      places.check('tool', {});
      expect(places.take('tool', {}, 'alice')).toBeUndefined();
    }
  });

  test('that are all taken have a queue of bounded length, or none', () => {
    const places = createSlots({ who: 'This tool' });
    const order: string[] = [];
    come(places, 'alice', order);
    expect(refusal(places, { concurrency: 1 })).toThrow('This tool may run 1 call at a time: wait for one to end');
    for (let call = 0; call < 3; call++) {
      places.check('tool', limits);
      come(places, 'alice', order);
    }
    expect(places.waiting).toBe(3);
    expect(refusal(places, limits)).toThrow(expect.objectContaining({ code: 'RATE_LIMITED', retryAfterMs: 1000 }));
    expect(refusal(places, limits)).toThrow('This tool may run 1 call at a time, and 3 wait already: try again later');
    places.check('another tool', limits);
  });

  test('go to callers in turns, so that one with many calls does not hold up the others', async () => {
    const places = createSlots({ who: 'This tool' });
    const order: string[] = [];
    for (const caller of ['alice 1', 'alice', 'alice', 'alice', 'bob', 'carol']) come(places, caller, order);
    for (let call = 0; call < 6; call++) {
      await settled();
      places.leave('tool');
    }
    await settled();
    expect(order).toEqual(['alice 1', 'alice', 'bob', 'carol', 'alice', 'alice']);
    expect(places.waiting).toBe(0);
  });

  test('are not given to a caller who has left the queue, and are returned by one who leaves with one', async () => {
    const places = createSlots({ who: 'This tool' });
    const order: string[] = [];
    come(places, 'alice', order);
    const bob = come(places, 'bob', order);
    const carol = come(places, 'carol', order);
    come(places, 'dave', order);
    bob?.giveUp();
    places.leave('tool');
    // It is carol's now, and she has not even heard of it.
    carol?.giveUp();
    await settled();
    expect(order).toEqual(['alice', 'carol', 'dave']);
    expect(places.waiting).toBe(0);
  });

  test('that an administrator adds go to waiting callers first', async () => {
    const places = createSlots({ who: 'This tool' });
    const order: string[] = [];
    come(places, 'alice', order);
    come(places, 'bob', order);
    come(places, 'carol', order, { concurrency: 2, queue: 3 });
    await settled();
    expect(order).toEqual(['alice', 'bob']);
  });
});
