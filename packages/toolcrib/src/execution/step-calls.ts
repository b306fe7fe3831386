import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { JobLeftError } from '../durable/job-left-error.ts';
import { abortable } from '../resilience/abortable.ts';
import type { Answer } from '../model/call.ts';
import type { EndSignal } from '../model/end-signal.ts';
import type { Principal } from '../model/principal.ts';
import type { CallContext } from '../sources/source.ts';
import type { CallTool } from '../sources/source-ports.ts';
import type { Store } from '../store/store.ts';
import type { Acceptance } from './acceptance.ts';
import type { Executor } from './executor.ts';
import type { DurableCalls } from './durable-calls.ts';
import type { KeptCalls } from './kept-calls.ts';
import { runWithin } from './run-within.ts';

interface StepCallsInput {
  executor: Executor;
  keptCalls: KeptCalls;
  store: Store;
  durableCalls: Pick<DurableCalls, 'leaving' | 'unfinished'>;
  acceptance: Pick<Acceptance, 'accepted'>;
}

/** How often a call that goes on by itself is looked for. */
const lookAgainMs = 100;

/**
 * [WF-1] [WF-2] Calls that a call makes in its steps: as its caller, under their policy, each with a record of its own. Their ids follow from
 * the call and the step, so that a run after a crash finds those which went on by themselves, and waits for them instead of beginning
 * them anew.
 */
export function createStepCalls({ executor, keptCalls, store, durableCalls, acceptance }: StepCallsInput): CallTool {
  const { leaving } = durableCalls;

  async function join(principal: Principal, callId: string): Promise<Answer | undefined> {
    for (;;) {
      const answer = await keptCalls.join(principal, callId);
      // The place for its answer is made right after the call is noted, and a crash may have come between the two.
      if (answer !== undefined || !(await durableCalls.unfinished()).has(callId)) return answer;
      await delay(lookAgainMs);
    }
  }

  /** Waits for as long as the call that the step belongs to may go on. */
  async function waitFor<T>(waited: Promise<T>, signal: EndSignal): Promise<T> {
    try {
      return await abortable(waited, signal, leaving);
    } catch (error) {
      throw leaving.aborted ? new JobLeftError() : error;
    }
  }

  /** The answer of a call that was begun in an earlier run and went on by itself. */
  async function begunBefore(callId: string, { principal, signal }: CallContext): Promise<Answer | undefined> {
    try {
      return await waitFor(join(principal, callId), signal);
    } catch (error) {
      if (signal.aborted && !leaving.aborted) await cancel(callId);
      throw error;
    }
  }

  async function cancel(callId: string): Promise<void> {
    const here = executor.running(callId);
    if (here === undefined) await store.signal('cancel-call', callId);
    else here.end('cancelled');
  }

  return async ({ tool, arguments: args, step, keepsRedirects = false }, context) => {
    const callId = stepCallId(context.callId, step);
    // A refusal would be remembered as the outcome of the step. Waiting takes none of the step's own time.
    await waitFor(acceptance.accepted(), context.signal);
    const run = async () => {
      const request = { tool, arguments: args, call_id: callId, trace: context.trace, keepsRedirects };
      return runWithin(executor, await executor.admit(context.principal, request), context);
    };
    const answer = (await begunBefore(callId, context)) ?? (await run());
    // It goes on without this server, and so does the call it belongs to.
    if (answer.status === 'running') throw new JobLeftError();
    return answer;
  };
}

/** RFC 9562 §5.7: the time of the call, so that both stand together in the record; the rest is derived from the call and the step. */
export function stepCallId(callId: string, step: string): string {
  const made = hash('sha256', `${callId}\n${step}`, 'hex');
  const variant = ((Number.parseInt(made.slice(3, 4), 16) & 0x3) | 0x8).toString(16);
  return `${callId.slice(0, 13)}-7${made.slice(0, 3)}-${variant}${made.slice(4, 7)}-${made.slice(7, 19)}`;
}
