import { JobLeftError } from '../durable/job-left-error.ts';
import { UnknownOutcomeError } from '../durable/unknown-outcome-error.ts';
import type { Answer, ToolOutput } from '../model/call.ts';
import { CribError, type ErrorCode } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import { traced } from '../model/traced.ts';
import type { Source } from '../sources/source.ts';
import { answerFromError } from './answer.ts';
import type { CallNotice } from './call-notice.ts';
import { originOf } from './origin-of.ts';
import { outcomeOf } from './outcome-of.ts';
import { retryAfter } from './retries.ts';
import type { RunningCall } from './running-call.ts';
import type { RunningCalls } from './running-calls.ts';
import type { Shaper } from './shaper.ts';

export interface InvokeInput {
  sourceOf(sourceId: string): Source | undefined;
  shape: Shaper;
  /** Throws where the source must not be asked any more. */
  check(call: RunningCall): void;
  /** Resolves when it may be asked, for a call that is not refused but waits; undefined where it may be at once. */
  accepted(call: RunningCall): Promise<void> | undefined;
  /** Told whenever a source is waited for. */
  onPending?(): void;
  /** Told about what happened to a call on its way, for metrics. */
  onNotice?(notice: CallNotice, tool: Tool): void;
  /** Told about every call that failed through the fault of its source, for metrics. */
  onSourceFault?(code: ErrorCode, tool: Tool): void;
  /** Told about a failure that is ours and not the tool's, and in which call. */
  onFault?(error: unknown, callId: string): void;
}

/** Asks the source and shapes what it gives. Throws for nothing but a call that this server does not go on with. */
export function createInvoke(input: InvokeInput, runningCalls: RunningCalls): (call: RunningCall, args: JsonObject) => Promise<Answer> {
  const { shape } = input;

  function askOnce(call: RunningCall, args: JsonObject): ToolOutput | Promise<ToolOutput> {
    const source = input.sourceOf(call.tool.source_id);
    if (source === undefined) {
      const message = `The source of ${call.tool.name} is not running`;
      throw call.resumed
        ? new UnknownOutcomeError(`${message}, so that the call could not go on. It may have taken effect: look there before trying again.`)
        : new CribError('SERVICE_UNAVAILABLE', message);
    }
    call.begun = true;
    return source.call(call.tool, args, call);
  }

  function ask(call: RunningCall, args: JsonObject): ToolOutput | Promise<ToolOutput> {
    input.check(call);
    call.turn?.begin();
    return askOnce(call, args);
  }

  /** Costs nothing where nothing fails. */
  function settle(call: RunningCall, args: JsonObject, output: Promise<ToolOutput>): Promise<ToolOutput> {
    const { retries } = call.tool;
    // What is done in steps is not done again as a whole.
    if (retries === null || call.steps !== undefined) return call.settle(output);
    const again = () => {
      input.check(call);
      return askOnce(call, args);
    };
    const onRetry = () => input.onNotice?.('retried', call.tool);
    return call.settle(output, (error) => retryAfter(error, { call, retries, again, onRetry }));
  }

  /** Its time runs from the first moment it waits. */
  async function askLater(call: RunningCall, args: JsonObject, ready: Promise<void> | undefined): Promise<ToolOutput> {
    call.queued = true;
    if (ready !== undefined) await traced(call.span?.child('wait for a place'), ready);
    await input.accepted(call);
    // Whoever was cancelled in the very moment of its turn must not be asked for any more.
    call.signal.throwIfAborted();
    call.queued = false;
    return ask(call, args);
  }

  return async function invoke(call: RunningCall, args: JsonObject): Promise<Answer> {
    const began = performance.now() - (call.resumed ? Date.now() - call.startedAt : 0);
    const { turn } = call;
    try {
      const isNext = turn?.ready === undefined && input.accepted(call) === undefined;
      const output = isNext ? ask(call, args) : askLater(call, args, turn?.ready);
      if (output instanceof Promise) {
        runningCalls.add(call);
        input.onPending?.();
      }
      const settled = output instanceof Promise ? await settle(call, args, output) : output;
      turn?.end({ kind: 'answered' });
      const answer = shape(call, settled, elapsed(began));
      return answer instanceof Promise ? await answer : answer;
    } catch (error) {
      if (error instanceof JobLeftError) throw error;
      if (error instanceof CribError) {
        turn?.end(outcomeOf(error, call));
        // Whoever never had their turn has not been failed by anybody.
        if (!call.queued && originOf(error, call) === 'source') input.onSourceFault?.(error.code, call.tool);
        call.failure = error;
        return answerFromError(call, error, elapsed(began));
      }
      input.onFault?.(error, call.callId);
      const fault = new CribError('INTERNAL', `${call.tool.name} failed inside Toolcrib; the server's log has call ${call.callId}`);
      return answerFromError(call, fault, elapsed(began));
    } finally {
      runningCalls.delete(call);
    }
  };
}

/** Milliseconds to a tenth of a microsecond: more digits would be noise in every answer. */
function elapsed(began: number): number {
  return Math.round((performance.now() - began) * 10_000) / 10_000;
}
