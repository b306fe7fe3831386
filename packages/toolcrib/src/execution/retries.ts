import { setTimeout as pause } from 'node:timers/promises';
import type { ToolOutput } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { Retries } from '../model/source-definition.ts';
import { ConnectionError } from '../model/named-errors.ts';
import type { Tool } from '../model/tool.ts';
import { cannotHaveRun, SessionLostError } from '../sources/upstream/session-lost.ts';
import { backoffMs } from '../resilience/backoff.ts';
import type { RunningCall } from './running-call.ts';

interface RetriedCall {
  call: RunningCall;
  retries: Retries;
  again(): ToolOutput | Promise<ToolOutput>;
  onRetry?(): void;
}

/** Where a server asks for a longer pause, the caller had better retry, and can do something else meanwhile. */
const longestRetryAfterMs = 5000;

/**
 * [EXEC-8] Tries again with growing pauses where a connection failed and trying again can do no harm. The one place that does so: sources only
 * say how they failed. The call's own deadline ends it, whatever it is doing.
 */
export async function retryAfter(failure: unknown, { call, retries, again, onRetry }: RetriedCall): Promise<ToolOutput> {
  let error = failure;
  let lostBefore = false;
  for (;;) {
    const lost = error instanceof SessionLostError;
    // [MCP-11] A new conversation is begun once; a server that loses that one too will not do better with a third.
    const isOver = call.endedEarly !== undefined || call.attempts > retries.maxAttempts || (lost && lostBefore);
    if (isOver || !mayRepeat(error, call.tool)) throw error;
    lostBefore ||= lost;
    const { retryAfterMs = 0 } = error;
    const waitMs = retryAfterMs + backoffMs(call.attempts - 1, retries.backoffMs);
    if (retryAfterMs > longestRetryAfterMs || waitMs > call.leftMs) throw error;
    await pause(waitMs, undefined, { signal: call.signal.toAbortSignal() });
    call.attempts++;
    onRetry?.();
    try {
      return await again();
    } catch (next) {
      error = next;
    }
  }
}

/** Whether the request cannot have run, or its connection failed and the tool may be called twice without harm, by its own word. */
function mayRepeat(error: unknown, { definition: { annotations } }: Tool): error is CribError {
  // A mistake of the caller, or a failure of the tool itself, would happen again.
  if (error instanceof CribError && (error.origin === 'caller' || error.origin === 'tool')) return false;
  if (cannotHaveRun(error)) return true;
  // A server that says when to come back has not run the call.
  if (error instanceof CribError && error.upstreamStatus === 429) return error.retryAfterMs !== undefined;
  const isHarmless = annotations?.['readOnlyHint'] === true || annotations?.['idempotentHint'] === true;
  // [HTTP-2] A service that is down and says for how long.
  const comesBack = error instanceof CribError && error.upstreamStatus === 503 && error.retryAfterMs !== undefined;
  return isHarmless && (comesBack || error instanceof ConnectionError || error instanceof SessionLostError);
}
