import type { JsonObject } from '../model/json.ts';
import type { DoorCaller } from './door-caller.ts';

/** The levels of RFC 5424 that MCP names, the least important first. */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Takes the result of a request, as JSON. Exactly one of the two is called, once; a promise for each stage of a call would cost more than the stages. */
export interface ResultSink {
  answered(result: string): void;
  failed(error: unknown): void;
}

/** One request of a client while it is being answered. */
export interface DoorExchange extends ResultSink {
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

/** Answers with what has to be waited for. */
export function answerWith(sink: ResultSink, result: Promise<string>): void {
  result.then(
    (text) => sink.answered(text),
    (error: unknown) => sink.failed(error),
  );
}
