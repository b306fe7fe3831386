import { describe, expect, test } from 'vitest';
import { createBreakers, type Breakers, type Outcome } from '../../src/resilience/breakers.ts';
import { outcomeOf } from '../../src/execution/outcome-of.ts';
import { RunningCall } from '../../src/execution/running-call.ts';
import { CribError } from '../../src/model/crib-error.ts';
import { samplePrincipal, sampleTool } from '../fixtures/samples.ts';

const limits = { failures: 3, open_ms: 1000 };
const failed: Outcome = { kind: 'failed', reason: 'connection refused\nand what it wrote', silent: false };
const silent: Outcome = { kind: 'failed', reason: 'no answer', silent: true };
const answered: Outcome = { kind: 'answered' };
const nothing: Outcome = { kind: 'nothing' };

function withClock(): { breakers: Breakers; clock: { ms: number }; call(...outcomes: Outcome[]): void } {
  const clock = { ms: 1_000_000 };
  const breakers = createBreakers({ now: () => clock.ms });
  const call = (...outcomes: Outcome[]) => {
    for (const outcome of outcomes) breakers.enter('wiki', limits, 'wiki')?.end(outcome);
  };
  return { breakers, clock, call };
}

describe('[EXEC-7] a breaker', () => {
  test('opens after a number of failures in a row, and says since when, why and for how long', () => {
    const { breakers, clock, call } = withClock();
    call(failed, failed, answered, failed, failed);
    expect(breakers.stateOf('wiki')).toBe('closed');
    call(failed);
    expect(breakers.stateOf('wiki')).toBe('open');
    clock.ms += 400;
    const refusal = { code: 'SERVICE_UNAVAILABLE', httpStatus: 503, retryable: true, retryAfterMs: 600 };
    expect(() => breakers.check('wiki', limits, 'wiki')).toThrow(expect.objectContaining(refusal));
    expect(() => call(answered)).toThrow(
      'wiki keeps failing: calls have been refused since 1970-01-01T00:16:40.000Z, and the next one is tried in 1 s. The last failure: connection refused',
    );
    expect(breakers.disturbed()).toEqual([['wiki', 'open']]);
  });

  test('lets one call try after the pause, and all others once that was answered', () => {
    const { breakers, clock, call } = withClock();
    call(failed, failed, failed);
    clock.ms += 1000;
    expect(breakers.stateOf('wiki')).toBe('half_open');
    breakers.check('wiki', limits, 'wiki');
    const trial = breakers.enter('wiki', limits, 'wiki');
    expect(() => breakers.check('wiki', limits, 'wiki')).toThrow('the next one is tried in 1 s');
    trial?.end(answered);
    expect(breakers.stateOf('wiki')).toBe('closed');
    call(failed, failed);
    expect(breakers.stateOf('wiki')).toBe('closed');
  });

  test('opens again when the trial fails, and lets the next one try when it had no outcome', () => {
    const { breakers, clock, call } = withClock();
    call(failed, failed, failed);
    clock.ms += 1000;
    call(failed);
    expect(breakers.stateOf('wiki')).toBe('open');
    clock.ms += 1000;
    call(nothing);
    expect(breakers.stateOf('wiki')).toBe('half_open');
    call(answered);
    expect(breakers.stateOf('wiki')).toBe('closed');
  });

  test('[ID-5] ignores calls that say nothing about the source', () => {
    const { breakers, call } = withClock();
    call(failed, failed, nothing, nothing, nothing);
    expect(breakers.stateOf('wiki')).toBe('closed');
    call(failed);
    expect(breakers.stateOf('wiki')).toBe('open');
  });

  test('[ID-5] does not take one caller’s long calls for a dead source while others are answered', () => {
    const { breakers, clock, call } = withClock();
    const slow = Array.from({ length: 5 }, () => breakers.enter('wiki', limits, 'wiki'));
    clock.ms += 10;
    call(answered);
    clock.ms += 10;
    for (const pass of slow) pass?.end(silent);
    expect(breakers.stateOf('wiki')).toBe('closed');
    call(silent, silent, silent);
    expect(breakers.stateOf('wiki')).toBe('open');
  });

  test('is off with 0 failures, starts over when it is forgotten, and is separate for each key', () => {
    const { breakers, call } = withClock();
    for (let times = 0; times < 10; times++) expect(breakers.enter('files', { failures: 0, open_ms: 1 }, 'files')).toBeUndefined();
    call(failed, failed, failed);
    breakers.check('files', limits, 'files');
    breakers.check('wiki', { failures: 0, open_ms: 1 }, 'wiki');
    breakers.forget('wiki');
    breakers.check('wiki', limits, 'wiki');
    expect(breakers.disturbed()).toEqual([]);
  });
});

describe('[EXEC-7] [ID-5] the outcome for the breaker', () => {
  const unavailable = (upstreamStatus?: number) => new CribError('SERVICE_UNAVAILABLE', 'x', { upstreamStatus });
  const call = (shortened = false) => {
    const given = { callId: 'c', principal: samplePrincipal(), tool: sampleTool(), policies: '', policyRevision: 1 };
    return new RunningCall({ ...given, startedAt: 0, timeoutMs: 1, maxTimeoutMs: 1, shortened });
  };

  test.each([
    ['a connection that was lost', new CribError('NETWORK_ERROR', 'x'), 'failed'],
    ['a process that crashed', unavailable(), 'failed'],
    ['an upstream status of 500', unavailable(500), 'failed'],
    ['an upstream status of 503', unavailable(503), 'failed'],
    ['401 for one caller', new CribError('UNAUTHENTICATED', 'x', { upstreamStatus: 401 }), 'answered'],
    ['403 for one caller', new CribError('FORBIDDEN', 'x', { upstreamStatus: 403 }), 'answered'],
    ['404', unavailable(404), 'answered'],
    ['429 for one caller', unavailable(429), 'answered'],
    ['a credential that one caller lacks', new CribError('FORBIDDEN', 'x'), 'nothing'],
    ['a fault of our own', new CribError('INTERNAL', 'x'), 'nothing'],
  ])('is right for %s', (_what, error, kind) => expect(outcomeOf(error, call())).toMatchObject({ kind }));

  test('is nothing for a cancelled call, and for one whose caller gave too little time', () => {
    const [cancelled, impatient, late] = [call(), call(true), call()];
    cancelled.end('cancelled');
    impatient.end('timed_out');
    late.end('timed_out');
    const error = new CribError('NETWORK_ERROR', 'x');
    expect([cancelled, impatient].map((ended) => outcomeOf(error, ended).kind)).toEqual(['nothing', 'nothing']);
    expect(outcomeOf(error, late)).toMatchObject({ kind: 'failed', silent: true });
  });
});
