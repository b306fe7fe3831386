import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type CallEvent, RunningCall } from '../../src/execution/running-call.ts';
import { samplePrincipal, sampleTool } from '../fixtures/samples.ts';

function callWith({ timeoutMs = 60_000, maxTimeoutMs = 60_000 }: { timeoutMs?: number; maxTimeoutMs?: number } = {}): RunningCall {
  return new RunningCall({
    callId: 'call',
    principal: samplePrincipal(),
    tool: sampleTool(),
    policies: 'staff',
    policyRevision: 1,
    startedAt: 0,
    timeoutMs,
    maxTimeoutMs,
  });
}

function settle<Output>(call: RunningCall, output: Promise<Output>): Promise<unknown> {
  return new Promise((answered, failed) => {
    call.wait(output as Promise<never>, { answered, failed, recover: () => undefined });
  });
}

const timedOut = { code: 'NETWORK_ERROR', message: 'files:read_file did not answer within 5 ms', retryable: true };
const cancelled = { code: 'SERVICE_UNAVAILABLE', message: 'The call was cancelled', retryable: false };
const never = () => new Promise<never>(() => undefined);

describe('a call that is answered', () => {
  test('returns what its source returns', async () => {
    const call = callWith();
    expect(await settle(call, Promise.resolve('answer'))).toBe('answer');
    expect(call.endedEarly).toBeUndefined();
  });

  test('fails as its source fails', async () => {
    const call = callWith();
    await expect(settle(call, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(call.endedEarly).toBeUndefined();
  });

  test('is not affected by a cancel that comes too late', async () => {
    const call = callWith();
    expect(await settle(call, Promise.resolve('answer'))).toBe('answer');
    call.end('cancelled');
    await nextTurn();
    expect(call.signal.aborted).toBe(true);
  });

  test('leaves no timer behind that could end it', async () => {
    const call = callWith({ timeoutMs: 5 });
    await settle(call, Promise.resolve('answer'));
    // Timers of the same length run in the order they were set, so this one ends after the one that must be gone.
    await expect(settle(callWith({ timeoutMs: 5 }), never())).rejects.toMatchObject(timedOut);
    expect(call.endedEarly).toBeUndefined();
    expect(call.signal.aborted).toBe(false);
  });
});

describe('a call that takes too long', () => {
  test('ends, and its source is told', async () => {
    const call = callWith({ timeoutMs: 5 });
    const { signal } = call;
    await expect(settle(call, wait(60_000, 'late', { signal: signal.toAbortSignal() }))).rejects.toMatchObject(timedOut);
    expect(call.endedEarly).toBe('timed_out');
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject(timedOut);
  });

  test('ends even if its source ignores the signal', async () => {
    await expect(settle(callWith({ timeoutMs: 5 }), never())).rejects.toMatchObject(timedOut);
  });

  test('ends with our message, whatever its source says when it hears the signal', async () => {
    const call = callWith({ timeoutMs: 5 });
    const { signal } = call;
    const output = new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('some error of its own')));
    });
    await expect(settle(call, output)).rejects.toMatchObject(timedOut);
  });

  test('gives an aborted signal to anybody who asks for it later', async () => {
    const call = callWith({ timeoutMs: 5 });
    await expect(settle(call, never())).rejects.toMatchObject(timedOut);
    expect(call.signal.aborted).toBe(true);
    expect(call.signal.reason).toMatchObject(timedOut);
    expect(call.signal).toBe(call.signal);
  });
});

describe('a call that is cancelled', () => {
  test('ends at once while it waits', async () => {
    const call = callWith();
    const settled = settle(call, never());
    call.end('cancelled');
    await expect(settled).rejects.toMatchObject(cancelled);
    expect(call.endedEarly).toBe('cancelled');
  });

  test('ends at once before it waits', async () => {
    const call = callWith();
    call.end('cancelled');
    expect(call.signal.aborted).toBe(true);
    await expect(settle(call, never())).rejects.toMatchObject(cancelled);
  });

  test('stays cancelled when it is cancelled twice and then times out', async () => {
    const call = callWith({ timeoutMs: 5 });
    const settled = settle(call, never());
    call.end('cancelled');
    call.end('timed_out');
    await expect(settled).rejects.toMatchObject(cancelled);
    expect(call.endedEarly).toBe('cancelled');
  });

  test('leaves no unhandled rejection, whatever fails later', async () => {
    const unheard: unknown[] = [];
    const listen = (reason: unknown) => unheard.push(reason);
    process.on('unhandledRejection', listen);
    try {
      const call = callWith();
      const source = Promise.withResolvers<string>();
      const settled = settle(call, source.promise);
      call.end('cancelled');
      await expect(settled).rejects.toMatchObject(cancelled);
      source.reject(new Error('late'));
      const answered = callWith();
      await settle(answered, Promise.resolve('answer'));
      answered.end('timed_out');
      const early = callWith();
      early.end('cancelled');
      expect(await settle(early, Promise.resolve('answered all the same'))).toBe('answered all the same');
      await nextTurn();
      await nextTurn();
      expect(unheard).toEqual([]);
    } finally {
      process.off('unhandledRejection', listen);
    }
  });
});

describe('an event of a running call', () => {
  test('reaches its listeners in order', async () => {
    const call = callWith();
    const events: CallEvent[] = [];
    call.onEvent = (event) => events.push(event);
    const source = async () => {
      call.progress({ progress: 1, total: 2, message: 'half' });
      await nextTurn();
      call.log('info', { step: 2 });
      call.progress({ progress: 2 });
      return 'answer';
    };
    await settle(call, source());
    expect(events).toEqual([
      { type: 'progress', progress: 1, total: 2, message: 'half' },
      { type: 'log', level: 'info', data: { step: 2 } },
      { type: 'progress', progress: 2 },
    ]);
  });

  test('is dropped if nobody listens, and after the call has ended', async () => {
    const call = callWith({ timeoutMs: 5 });
    call.progress({ progress: 1 });
    const events: CallEvent[] = [];
    call.onEvent = (event) => events.push(event);
    await expect(settle(call, never())).rejects.toMatchObject(timedOut);
    call.progress({ progress: 2 });
    call.log('error', 'too late');
    expect(events).toEqual([]);
  });
});

describe('[MCP-9] progress', () => {
  test('restarts the timeout', async () => {
    const call = callWith({ timeoutMs: 100 });
    const ticking = setInterval(() => call.progress({ progress: 1 }), 10);
    const answer = new Promise<string>((resolve) => setTimeout(resolve, 400, 'done'));
    expect(await settle(call, answer)).toBe('done');
    clearInterval(ticking);
  });

  test('does not keep a call alive beyond the maximum', async () => {
    const call = callWith({ timeoutMs: 100, maxTimeoutMs: 150 });
    const ticking = setInterval(() => call.progress({ progress: 1 }), 10);
    await expect(settle(call, never())).rejects.toMatchObject({ code: 'NETWORK_ERROR' });
    clearInterval(ticking);
  });
});

describe('[MCP-13] a question of the tool', () => {
  test('is declined if nobody is there to answer', async () => {
    expect(await callWith().elicit({ message: 'Sure?' })).toEqual({ action: 'decline' });
  });

  test('reaches the caller and takes one answer', async () => {
    const call = callWith();
    const asked = new Promise<string>((resolve) => {
      call.onEvent = (event) => event.type === 'elicitation' && resolve(event.elicitation_id);
    });
    const answered = call.elicit({ message: 'Sure?' });
    const id = await asked;
    expect(call.answer('other', {})).toBe(false);
    expect(call.answer(id, { action: 'accept', content: { sure: true } })).toBe(true);
    expect(call.answer(id, { action: 'decline' })).toBe(false);
    expect(await answered).toEqual({ action: 'accept', content: { sure: true } });
  });
});
