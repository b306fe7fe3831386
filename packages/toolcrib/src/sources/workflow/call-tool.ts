import type { Answer } from '../../model/call.ts';
import type { JsonObject } from '../../model/json.ts';
import type { CallContext } from '../source.ts';

interface StepCall {
  /** The id of the tool. */
  tool: string;
  arguments: JsonObject;
  /** Names the step within the call: the same on every run of it. */
  step: string;
  /** Whether a redirect is its answer, and not to be followed. */
  keepsRedirects: boolean;
}

/**
 * Calls a tool as the caller of `context`, under their policy, and records it like any call. Throws `CribError` where it is refused; an unknown
 * tool and a forbidden one look the same.
 */
export type CallTool = (request: StepCall, context: CallContext) => Promise<Answer>;
