import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentMap } from '../../src/model/recent-map.ts';

test('the map never grows beyond its size and always returns the last value set', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('get', 'set', 'delete'), fc.integer({ min: 0, max: 20 }), fc.integer()), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(steps, fc.integer({ min: 2, max: 12 }), (list, maxSize) => {
      const map = new RecentMap<number>(maxSize);
      const model = new Map<string, number>();
      for (const [step, number, value] of list) {
        const key = String(number);
        if (step === 'set') {
          map.set(key, value);
          model.set(key, value);
        } else if (step === 'delete') {
          map.delete(key);
          model.delete(key);
        }
        // Only a value that was just set must still be there; everything else may have been forgotten.
        expect(step === 'set' ? [value] : [undefined, model.get(key)]).toContain(map.get(key));
        expect(map.size).toBeLessThanOrEqual(maxSize);
      }
    }),
  );
});

test('an entry that is used often stays while others pass through', () => {
  const map = new RecentMap<number>(10);
  map.set('regular', 1);
  for (let index = 0; index < 1000; index += 1) {
    map.set(`passer-by-${index}`, index);
    expect(map.get('regular')).toBe(1);
  }
  expect(map.get('passer-by-0')).toBeUndefined();
});

test('a map with weights never holds more than they allow, unless one value alone does, and tells what it forgets', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('get', 'set', 'set', 'delete'), fc.nat(20), fc.integer({ min: 1, max: 30 })), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(steps, fc.integer({ min: 10, max: 60 }), (list, maxWeight) => {
      const held = new Map<string, { key: string; weight: number }>();
      const map = new RecentMap<{ key: string; weight: number }>(
        maxWeight,
        ({ weight }) => weight,
        (value) => expect(held.delete(value.key)).toBe(true),
      );
      for (const [step, number, weight] of list) {
        const key = String(number);
        if (step === 'set') {
          held.delete(key);
          const value = { key, weight };
          map.set(key, value);
          held.set(key, value);
        } else if (step === 'delete') {
          map.delete(key);
          held.delete(key);
        }
        expect(map.get(key)).toBe(held.get(key));
        expect(new Set(map.keys())).toEqual(new Set(held.keys()));
        const weights = [...held.values()].map((value) => value.weight);
        const heavy = weights.filter((one) => one > maxWeight / 2);
        const rest = weights.filter((one) => one <= maxWeight / 2).reduce((sum, one) => sum + one, 0);
        expect(rest).toBeLessThanOrEqual(maxWeight);
        expect(heavy.length).toBeLessThanOrEqual(2);
      }
    }),
  );
});
