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
import type { RunningCall } from './running-call.ts';

export interface InvokeInput {
  sourceOf(sourceId: string): Source | undefined;
  admission: Pick<Admission, 'recheck' | 'accepted'>;
  inFlight: CallsInFlight;
  observer: Pick<Observer, 'callNoticed'>;
}

/** Asks the source of an admitted call when it is its turn, and waits for the output. */
export type Invoke = (call: RunningCall, args: JsonObject) => ToolOutput | Promise<ToolOutput>;

export function createInvoke({ sourceOf, admission, inFlight, observer }: InvokeInput): Invoke {
  function ask(call: RunningCall, args: JsonObject): ToolOutput | Promise<ToolOutput> {
    const source = sourceOf(call.tool.source_id);
    if (source === undefined) {
      const message = `The source of ${call.tool.name} is not running`;
      throw call.resumed
        ? new UnknownOutcomeError(`${message}, so the call could not be resumed. It may have taken effect: check before you try again.`)
        : new CribError('SERVICE_UNAVAILABLE', message);
    }
    call.begun = true;
    return source.call(call.tool, args, call);
  }

  function askFirst(call: RunningCall, args: JsonObject): ToolOutput | Promise<ToolOutput> {
    admission.recheck(call);
    call.turn?.begin();
    return ask(call, args);
  }

  /** Its time runs from the moment it begins to wait. */
  async function askLater(call: RunningCall, args: JsonObject, ready: Promise<void> | undefined): Promise<ToolOutput> {
    call.queued = true;
    if (ready !== undefined) await traced(call.span?.child('wait for a place'), ready);
    await admission.accepted(call);
    // It may have been cancelled in the very moment of its turn.
    call.signal.throwIfAborted();
    call.queued = false;
    return askFirst(call, args);
  }

  /** Costs nothing where nothing fails. */
  function settle(call: RunningCall, args: JsonObject, output: Promise<ToolOutput>): Promise<ToolOutput> {
    const { retries } = call.tool;
    // A call made of steps is not repeated as a whole.
    if (retries === null || call.steps !== undefined) return call.settle(output);
    const again = () => {
      admission.recheck(call);
      return ask(call, args);
    };
    const onRetry = () => observer.callNoticed('retried', call.tool);
    return call.settle(output, (error) => retryAfter(error, { call, retries, again, onRetry }));
  }

  return function invoke(call, args) {
    const { turn } = call;
    const isNext = turn?.ready === undefined && admission.accepted(call) === undefined;
    const output = isNext ? askFirst(call, args) : askLater(call, args, turn?.ready);
    if (!(output instanceof Promise)) return output;
    inFlight.add(call);
    return settle(call, args, output);
  };
}
