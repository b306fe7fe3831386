import type { JsonObject } from '../model/json.ts';
import type { DoorCaller } from './door-caller.ts';

/** The levels of RFC 5424 that MCP names, the least important first. */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof logLevels)[number];

/** One request of a client while it is being answered. */
export interface DoorExchange {
  readonly caller: DoorCaller;
  /** Undefined where the client wants to hear of no progress. */
  readonly progressToken: string | number | undefined;
  /** The least important level that the client wants to hear of; undefined for none. */
  readonly logLevel: LogLevel | undefined;
  notify(method: string, params: JsonObject): void;
  /** Asks the client. Rejects where it cannot be asked, answers with an error, or goes away. */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
  /** Calls the listener when the client cancels the request, or goes away for good. */
  onGone(listener: () => void): void;
}
