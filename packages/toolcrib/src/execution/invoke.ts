import { UnknownOutcomeError } from '../durable/unknown-outcome-error.ts';
import type { ToolOutput } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import type { Observer } from '../model/observer.ts';
import { traced } from '../model/traced.ts';
import type { Source } from '../sources/source.ts';
import type { Admission } from './admission.ts';
import type { CallsInFlight } from './calls-in-flight.ts';
import { retryAfter } from './retries.ts';
import type { CallWaiter, RunningCall } from './running-call.ts';

export interface InvokeInput {
  sourceOf(sourceId: string): Source | undefined;
  admission: Pick<Admission, 'recheck' | 'accepted'>;
  inFlight: CallsInFlight;
  observer: Pick<Observer, 'callNoticed'>;
}

export interface Invoke {
  /** Asks the source of an admitted call when it is its turn. The waiter is told at once where the source answers at once. */
  begin(call: RunningCall, args: JsonObject, waiter: CallWaiter): void;
  /** [EXEC-8] Asks again after a failure; undefined where the call is not repeated. */
  retry(call: RunningCall, args: JsonObject, error: unknown): Promise<ToolOutput> | undefined;
}

export function createInvoke({ sourceOf, admission, inFlight, observer }: InvokeInput): Invoke {
  function sourceFor(call: RunningCall): Source {
    const source = sourceOf(call.tool.source_id);
    if (source !== undefined) return source;
    const message = `The source of ${call.tool.name} is not running`;
    throw call.resumed
      ? new UnknownOutcomeError(`${message}, so the call could not be resumed. It may have taken effect: check before you try again.`)
      : new CribError('SERVICE_UNAVAILABLE', message);
  }

  /** Undefined where the source reports to the call itself. */
  function askFirst(call: RunningCall, args: JsonObject): ToolOutput | Promise<ToolOutput> | undefined {
    admission.recheck(call);
    call.turn?.begin();
    const source = sourceFor(call);
    call.begun = true;
    return source.startCall?.(call.tool, args, call, call) === true ? undefined : source.call(call.tool, args, call);
  }

  function askAgain(call: RunningCall, args: JsonObject): ToolOutput | Promise<ToolOutput> {
    admission.recheck(call);
    return sourceFor(call).call(call.tool, args, call);
  }

  /** Its time runs from the moment it begins to wait. */
  async function askLater(call: RunningCall, args: JsonObject, ready: Promise<void> | undefined): Promise<ToolOutput | undefined> {
    call.queued = true;
    if (ready !== undefined) await traced(call.span?.child('wait for a place'), ready);
    await admission.accepted(call);
    // It may have been cancelled in the very moment of its turn.
    call.signal.throwIfAborted();
    call.queued = false;
    return askFirst(call, args);
  }

  return {
    begin(call, args, waiter) {
      const { turn } = call;
      const isNext = turn?.ready === undefined && admission.accepted(call) === undefined;
      const output = isNext ? askFirst(call, args) : askLater(call, args, turn?.ready);
      if (output !== undefined && !(output instanceof Promise)) return waiter.answered(output);
      inFlight.add(call);
      call.wait(output, waiter);
    },

    retry(call, args, error) {
      const { retries } = call.tool;
      // A call made of steps is not repeated as a whole.
      if (retries === null || call.steps !== undefined) return undefined;
      const again = () => askAgain(call, args);
      const onRetry = () => observer.callNoticed('retried', call.tool);
      return retryAfter(error, { call, retries, again, onRetry });
    },
  };
}
