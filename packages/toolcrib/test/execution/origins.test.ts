import { describe, expect, test } from 'vitest';
import { UnknownOutcomeError } from '../../src/durable/unknown-outcome-error.ts';
import { originOf } from '../../src/execution/origin-of.ts';
import { outcomeOf } from '../../src/execution/outcome-of.ts';
import { RunningCall } from '../../src/execution/running-call.ts';
import { CribError, httpStatusByCode, type CribErrorOptions, type ErrorCode } from '../../src/model/crib-error.ts';
import { ConnectionError, NoCredentialError, ProtocolError, TimeoutError } from '../../src/model/named-errors.ts';
import { originOfRefusal, origins } from '../../src/model/origin.ts';
import { answerFailure } from '../../src/sources/upstream/http/answer-failure.ts';
import type { HttpResponse } from '../../src/net/http-exchange.ts';
import { samplePrincipal, sampleTool } from '../fixtures/samples.ts';

const codes = Object.keys(httpStatusByCode) as ErrorCode[];

function aCall({ shortened = false } = {}): RunningCall {
  const given = { callId: 'c', principal: samplePrincipal(), tool: sampleTool(), policies: '', policyRevision: 1 };
  return new RunningCall({ ...given, startedAt: 0, timeoutMs: 1, maxTimeoutMs: 1, shortened });
}

describe('[EXEC-3] the origin of a failed call', () => {
  test.each([
    ['a connection that was lost', new ConnectionError('x'), 'source', 'failed'],
    ['a message that is none of MCP', new ProtocolError('x'), 'source', 'failed'],
    ['a server that did not answer', new TimeoutError('x'), 'source', 'failed'],
    ['a source that is not running', new CribError('SERVICE_UNAVAILABLE', 'x'), 'source', 'failed'],
    ['a program that is not installed', new CribError('NOT_FOUND', 'x'), 'source', 'nothing'],
    ['a secret that is not set', new CribError('VALIDATION_ERROR', 'x'), 'source', 'nothing'],
    ['a credential of ours that the server refuses', new CribError('UNAUTHENTICATED', 'x', { upstreamStatus: 401 }), 'source', 'answered'],
    ['a credential that the caller lacks', new NoCredentialError('UNAUTHENTICATED', 'x'), 'caller', 'nothing'],
    ['a caller whom the issuer gives no token', new NoCredentialError('FORBIDDEN', 'x'), 'caller', 'nothing'],
    ['an issuer that exchanges no tokens', new NoCredentialError('SERVICE_UNAVAILABLE', 'x'), 'gateway', 'nothing'],
    ['a server of ours that was killed', new UnknownOutcomeError('x'), 'gateway', 'nothing'],
    ['a database that is away', new CribError('SERVICE_UNAVAILABLE', 'x', { origin: 'gateway' }), 'gateway', 'nothing'],
    ['a limit of ours', new CribError('RATE_LIMITED', 'x'), 'gateway', 'nothing'],
    ['a limit of the service', new CribError('RATE_LIMITED', 'x', { upstreamStatus: 429 }), 'source', 'answered'],
    ['a fault of ours', new CribError('INTERNAL', 'x'), 'gateway', 'nothing'],
  ] as const)('is right for %s', (_what, error, origin, outcome) => {
    expect([originOf(error, aCall()), outcomeOf(error, aCall()).kind]).toEqual([origin, outcome]);
  });

  test('depends on why a call was ended early', () => {
    const ended = (reason: 'cancelled' | 'timed_out', { queued = false, shortened = false } = {}) => {
      const call = aCall({ shortened });
      call.queued = queued;
      call.end(reason);
      const error = new ConnectionError('x');
      return [originOf(error, call), outcomeOf(error, call).kind];
    };
    expect(ended('cancelled')).toEqual(['caller', 'nothing']);
    expect(ended('timed_out')).toEqual(['source', 'failed']);
    expect(ended('timed_out', { shortened: true })).toEqual(['caller', 'nothing']);
    expect(ended('timed_out', { queued: true })).toEqual(['gateway', 'nothing']);
  });

  const answered = (status: number) => {
    const response = { status, header: () => '', headers: {} } as unknown as HttpResponse;
    return answerFailure({ method: 'GET', path: '/' }, { response, bytes: Buffer.alloc(0) });
  };

  test.each([
    [[300, 302, 304, 307, 400, 402, 404, 405, 406, 409, 410, 412, 413, 415, 418, 422, 428, 451], 'tool', 'answered'],
    [[401, 403, 408, 425, 429], 'source', 'answered'],
    [[500, 501, 502, 503, 504, 599], 'source', 'failed'],
  ] as const)('[HTTP-2] for a service that answers with one of %j is the %s', (statuses, origin, outcome) => {
    for (const status of statuses) {
      const error = answered(status);
      expect([status, originOf(error, aCall()), outcomeOf(error, aCall()).kind]).toEqual([status, origin, outcome]);
    }
  });

  test('[EXEC-7] decides together with code and status that a breaker counts failures of the source only', () => {
    const statuses = [undefined, 302, 400, 401, 403, 404, 429, 500, 503];
    for (const code of codes) {
      for (const upstreamStatus of statuses) {
        for (const origin of [undefined, ...origins]) {
          const options: CribErrorOptions = { upstreamStatus, origin };
          const error = new CribError(code, 'x', options);
          const found = originOf(error, aCall());
          expect(found).toBe(origin ?? found);
          const mayCount = found === 'source' && (upstreamStatus ?? 500) >= 500;
          expect([code, options, outcomeOf(error, aCall()).kind === 'failed' && !mayCount]).toEqual([code, options, false]);
        }
      }
    }
  });
});

test.each(codes)('[EXEC-3] %s before a source was called is the caller’s for a 4xx, else ours or the source’s', (code) => {
  const origin = originOfRefusal(new CribError(code, 'x'));
  const isCallers = httpStatusByCode[code] < 500 && code !== 'RATE_LIMITED';
  expect(origin).toBe(isCallers ? 'caller' : code === 'NETWORK_ERROR' ? 'source' : 'gateway');
  for (const told of origins) expect(originOfRefusal(new CribError(code, 'x', { origin: told }))).toBe(told);
});
