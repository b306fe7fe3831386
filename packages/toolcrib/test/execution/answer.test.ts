import { describe, expect, test } from 'vitest';
import { answerFromError } from '../../src/execution/answer.ts';
import { RunningCall } from '../../src/execution/running-call.ts';
import { answerFrom } from '../../src/execution/shaper.ts';
import { answerSchema } from '../../src/api.ts';
import { CribError } from '../../src/model/crib-error.ts';
import { samplePrincipal, sampleTool } from '../fixtures/samples.ts';

const tool = sampleTool({ namespace: 'everything', name: 'echo' });

function aCall(): RunningCall {
  return new RunningCall({
    callId: 'c1',
    principal: samplePrincipal(),
    tool,
    policies: '',
    policyRevision: 1,
    startedAt: 0,
    timeoutMs: 10,
    maxTimeoutMs: 60_000,
  });
}

const named = { call_id: 'c1', tool_id: tool.tool_id, tool: 'everything:echo', execution_time_ms: 1.7 };

describe('[EXEC-2] an answer', () => {
  test('of a tool that worked has its content, result and text', () => {
    const content = [{ type: 'text', text: '{"a":1}' }];
    const answer = answerFrom(aCall(), { content }, 1.7);
    expect(answer).toEqual({
      ...named,
      success: true,
      status: 'completed',
      is_error: false,
      content,
      structured_content: null,
      result: { a: 1 },
      text: '{"a":1}',
      error: null,
      metadata: { source_id: tool.source_id, attempts: 1 },
    });
    expect(answerSchema.parse(answer)).toEqual(answer);
  });

  test('of a tool that failed is a result, with its own message', () => {
    const output = {
      content: [{ type: 'text', text: 'no such city' }],
      structured_content: { message: 'No city', code: 404 },
      is_error: true,
    };
    const answer = answerFrom(aCall(), output, 1.7);
    expect(answer).toMatchObject({
      ...named,
      success: false,
      status: 'failed',
      is_error: true,
      result: { message: 'No city', code: 404 },
      text: 'no such city',
      error: { code: 'SERVICE_UNAVAILABLE', message: 'No city (code=404)' },
    });
    expect(answerSchema.parse(answer)).toEqual(answer);
  });

  test('carries what the source adds, except for a false origin', () => {
    const metadata = { source_id: 'another source', attempts: 3, server: 'x' };
    expect(answerFrom(aCall(), { content: [], metadata }, 0).metadata).toEqual({ source_id: tool.source_id, attempts: 3, server: 'x' });
  });
});

describe('[EXEC-3] a failure after a source was looked for is an answer', () => {
  test('with everything that is known about it', () => {
    const error = new CribError('NETWORK_ERROR', 'Connection lost', { retryable: true, upstreamStatus: 502, details: { host: 'a' } });
    const answer = answerFromError(aCall(), error, 1.7);
    expect(answer).toEqual({
      ...named,
      success: false,
      status: 'failed',
      is_error: true,
      content: [{ type: 'text', text: 'Connection lost' }],
      structured_content: null,
      result: null,
      text: 'Connection lost',
      error: {
        code: 'NETWORK_ERROR',
        message: 'Connection lost',
        origin: 'source',
        retryable: true,
        upstream_status: 502,
        details: { host: 'a' },
      },
      metadata: { source_id: tool.source_id, attempts: 1 },
    });
    expect(answerSchema.parse(answer)).toEqual(answer);
  });

  test('without fields that are not known', () => {
    const { error } = answerFromError(aCall(), new CribError('INTERNAL', 'Oh'), 0);
    expect(error).toStrictEqual({ code: 'INTERNAL', message: 'Oh', origin: 'gateway', retryable: false });
  });

  test.each(['cancelled', 'timed_out'] as const)('that says that the call was %s', (reason) => {
    const call = aCall();
    call.end(reason);
    expect(answerFromError(call, new CribError('NETWORK_ERROR', 'x'), 0).status).toBe(reason);
  });
});
