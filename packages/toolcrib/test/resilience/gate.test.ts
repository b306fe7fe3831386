import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createGate, type Gate, type Limits } from '../../src/resilience/gate.ts';
import { CribError } from '../../src/model/crib-error.ts';

function gateWithClock(): { gate: Gate; clock: { ms: number } } {
  const clock = { ms: 0 };
  return { gate: createGate({ who: 'You', now: () => clock.ms }), clock };
}

/** The error that keeps a call out, or undefined where it is let in. */
function refusal(gate: Gate, key: string, limits: Limits): CribError | undefined {
  try {
    gate.enter(key, limits);
    return undefined;
  } catch (error) {
    if (error instanceof CribError) return error;
    throw error;
  }
}

describe('a rate', () => {
  test('lets a burst in, then one call per interval', () => {
    const { gate, clock } = gateWithClock();
    const limits = { rate_per_second: 10, burst: 3 };
    for (let call = 0; call < 3; call++) gate.enter('alice', limits);
    expect(refusal(gate, 'alice', limits)).toMatchObject({ code: 'RATE_LIMITED', httpStatus: 429, retryable: true, retryAfterMs: 100 });
    clock.ms = 50;
    expect(refusal(gate, 'alice', limits)?.retryAfterMs).toBe(50);
    clock.ms = 100;
    expect(refusal(gate, 'alice', limits)).toBeUndefined();
    expect(refusal(gate, 'alice', limits)?.message).toBe('You may make 10 calls a second: try again later');
  });

  test('without a burst allows the calls of one second, and at least one', () => {
    const { gate } = gateWithClock();
    for (let call = 0; call < 5; call++) gate.enter('alice', { rate_per_second: 5 });
    expect(refusal(gate, 'alice', { rate_per_second: 5 })).toBeDefined();
    gate.enter('bob', { rate_per_second: 0.1 });
    expect(refusal(gate, 'bob', { rate_per_second: 0.1 })?.retryAfterMs).toBe(10_000);
  });

  test('accumulates no more than its burst', () => {
    const { gate, clock } = gateWithClock();
    const limits = { rate_per_second: 10, burst: 2 };
    gate.enter('alice', limits);
    clock.ms = 1_000_000;
    gate.enter('alice', limits);
    gate.enter('alice', limits);
    expect(refusal(gate, 'alice', limits)).toBeDefined();
  });

  test('is not charged for a refused call', () => {
    const { gate, clock } = gateWithClock();
    const limits = { rate_per_second: 1, burst: 1 };
    gate.enter('alice', limits);
    for (let call = 0; call < 100; call++) refusal(gate, 'alice', limits);
    clock.ms = 1000;
    expect(refusal(gate, 'alice', limits)).toBeUndefined();
  });

  test('is separate for each caller', () => {
    const { gate } = gateWithClock();
    const limits = { rate_per_second: 1, burst: 1 };
    gate.enter('alice', limits);
    expect(refusal(gate, 'alice', limits)).toBeDefined();
    expect(refusal(gate, 'bob', limits)).toBeUndefined();
  });

  test('takes effect at once when it is lowered', () => {
    const { gate } = gateWithClock();
    gate.enter('tool', { rate_per_second: 100, burst: 100 });
    gate.enter('tool', { rate_per_second: 1, burst: 1 });
    expect(refusal(gate, 'tool', { rate_per_second: 1, burst: 1 })).toBeDefined();
  });

  test('is not affected when the clock goes back', () => {
    const { gate, clock } = gateWithClock();
    clock.ms = 5000;
    gate.enter('alice', { rate_per_second: 1, burst: 1 });
    clock.ms = 0;
    expect(refusal(gate, 'alice', { rate_per_second: 1, burst: 1 })).toBeDefined();
    clock.ms = 1000;
    expect(refusal(gate, 'alice', { rate_per_second: 1, burst: 1 })).toBeUndefined();
  });

  test('[EXEC-6] admits a caller who waited as long as told', () => {
    const limits = fc.record({ rate_per_second: fc.double({ min: 0.001, max: 5000, noNaN: true }), burst: fc.integer({ min: 1, max: 5 }) });
    fc.assert(
      fc.property(limits, fc.array(fc.double({ min: 0, max: 500, noNaN: true }), { maxLength: 20 }), (limits, pauses) => {
        const { gate, clock } = gateWithClock();
        for (const pause of [...pauses, ...Array.from({ length: 8 }, () => 0)]) {
          clock.ms += pause;
          const error = refusal(gate, 'alice', limits);
          if (error === undefined) continue;
          expect(error.retryAfterMs).toBeGreaterThan(0);
          clock.ms += error.retryAfterMs ?? 0;
          expect(refusal(gate, 'alice', limits)).toBeUndefined();
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a limit on concurrency', () => {
  const limits = { concurrency: 2 };

  test('counts a call until it leaves', () => {
    const { gate } = gateWithClock();
    gate.enter('alice', limits);
    gate.enter('alice', limits);
    expect(refusal(gate, 'alice', limits)).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 1000 });
    expect(refusal(gate, 'alice', limits)?.message).toBe('You may run 2 calls at a time: wait for one to end');
    expect(refusal(gate, 'bob', limits)).toBeUndefined();
    gate.leave('alice', limits);
    expect(refusal(gate, 'alice', limits)).toBeUndefined();
  });

  test('does not charge refused calls to the rate', () => {
    const { gate } = gateWithClock();
    const both = { concurrency: 1, rate_per_second: 1, burst: 2 };
    gate.enter('alice', both);
    for (let call = 0; call < 10; call++) expect(refusal(gate, 'alice', both)?.message).toContain('at a time');
    gate.leave('alice', both);
    expect(refusal(gate, 'alice', both)).toBeUndefined();
  });

  test('never falls below zero', () => {
    const { gate } = gateWithClock();
    gate.leave('alice', limits);
    gate.enter('alice', limits);
    gate.leave('alice', limits);
    gate.leave('alice', limits);
    gate.enter('alice', limits);
    gate.enter('alice', limits);
    expect(refusal(gate, 'alice', limits)).toBeDefined();
  });
});

describe('the memory of the limits', () => {
  test('is empty for callers without limits', () => {
    const { gate } = gateWithClock();
    for (let call = 0; call < 100; call++) gate.enter('alice', { burst: 1 });
    gate.leave('alice', {});
    expect(gate.tracked).toBe(0);
  });

  test('stays bounded however many callers come, as long as they go', () => {
    const { gate, clock } = gateWithClock();
    const limits = { rate_per_second: 1000, concurrency: 5 };
    for (let caller = 0; caller < 200_000; caller++) {
      gate.enter(`caller ${caller}`, limits);
      gate.leave(`caller ${caller}`, limits);
      clock.ms += 1;
    }
    expect(gate.tracked).toBeLessThanOrEqual(50_001);
  });

  test('is kept for callers with running calls, and for those who have used up their own rate', () => {
    const { gate, clock } = gateWithClock();
    const slow = { rate_per_second: 0.001, burst: 1 };
    gate.enter('slow', slow);
    gate.leave('slow', slow);
    gate.enter('busy', { concurrency: 1 });
    const fast = { rate_per_second: 1_000_000, burst: 1 };
    for (let caller = 0; caller < 60_000; caller++) {
      gate.enter(`caller ${caller}`, fast);
      gate.leave(`caller ${caller}`, fast);
      clock.ms += 1;
    }
    expect(gate.tracked).toBeLessThan(50_000);
    expect(refusal(gate, 'slow', slow)).toBeDefined();
    expect(refusal(gate, 'busy', { concurrency: 1 })).toBeDefined();
  });
});
