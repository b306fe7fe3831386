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
