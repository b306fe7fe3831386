import type { CallOutcome } from '../../../model/call-outcome.ts';
import type { ToolOutput } from '../../../model/call.ts';
import type { JsonObject } from '../../../model/json.ts';
import { outputFromResult } from './call-result.ts';
import { completeRequest, isComplete } from './complete-request.ts';
import type { Exchange } from './exchange.ts';
import { rawTextOf } from './raw-text.ts';
import type { Requests, RequestWaiter } from './requests.ts';
import { RpcError } from './session-errors.ts';

export type ToolParams = { name: string; arguments: JsonObject };

/** The session that a call was started on. */
export interface CallingSession {
  /** The call is over. */
  end(exchange: Exchange): void;
  /** An error that the server answered with is an output; everything else is thrown. */
  outputOfFailure(error: unknown): ToolOutput;
  /** Reads anew which headers the server wants, and calls again. */
  callWithNewHeaders(params: ToolParams, exchange: Exchange): Promise<JsonObject>;
}

interface StartedCallInput {
  session: CallingSession;
  requests: Requests;
  params: ToolParams;
  headers: Record<string, string> | undefined;
  exchange: Exchange;
  outcome: CallOutcome;
}

/** SEP-2243: the headers do not repeat the parameters as the server's schema says. It refuses before it does anything. */
const headerMismatch = -32_020;

export function isHeaderMismatch(error: unknown): boolean {
  return error instanceof RpcError && error.rpcCode === headerMismatch;
}

/** A tool call that nobody waits for with a promise. What is not a plain answer goes on as a call that is waited for. */
export class StartedCall implements RequestWaiter {
  readonly #input: StartedCallInput;

  constructor(input: StartedCallInput) {
    this.#input = input;
  }

  resolve(result: JsonObject, json?: string): void {
    const { requests, params, exchange, headers } = this.#input;
    // A server of the handshake revisions does not know the field.
    if (requests.envelope !== undefined && !isComplete(result)) {
      return this.#goOn(completeRequest(requests, 'tools/call', params, exchange, headers, result));
    }
    let output: ToolOutput;
    try {
      output = outputFromResult(result);
    } catch (error) {
      return this.#fail(error);
    }
    if (json !== undefined) output.raw_text = rawTextOf(output, json);
    this.#answer(output);
  }

  reject(error: unknown): void {
    const { session, params, exchange, headers } = this.#input;
    if (headers !== undefined && isHeaderMismatch(error)) this.#goOn(session.callWithNewHeaders(params, exchange));
    else this.#fail(error);
  }

  #goOn(result: Promise<JsonObject>): void {
    result.then((value) => this.#answer(outputFromResult(value))).catch((error: unknown) => this.#fail(error));
  }

  #answer(output: ToolOutput): void {
    const { session, exchange, outcome } = this.#input;
    session.end(exchange);
    outcome.answered(output);
  }

  #fail(failure: unknown): void {
    const { session, exchange, outcome } = this.#input;
    let output: ToolOutput;
    try {
      output = session.outputOfFailure(failure);
    } catch (error) {
      session.end(exchange);
      return outcome.failed(error);
    }
    this.#answer(output);
  }
}
