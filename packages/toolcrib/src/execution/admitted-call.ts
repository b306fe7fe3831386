import type { JsonObject } from '../model/json.ts';
import type { RunningCall } from './running-call.ts';

/** A call that may be made. */
export interface AdmittedCall {
  readonly call: RunningCall;
  readonly args: JsonObject;
}
