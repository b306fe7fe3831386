import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerJson } from '../execution/answer-json.ts';
import type { AdmittedCall, CallRequest } from '../execution/admission.ts';
import type { AnswerSink } from '../execution/call-run.ts';
import type { Executor } from '../execution/executor.ts';
import type { RunningCall } from '../execution/running-call.ts';
import type { TokenVerifier } from '../identity/verify-token.ts';
import type { Answer } from '../model/call.ts';
import { isObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { createHostGuard } from './browser-guard.ts';
import { createPlainHead } from './plain-head.ts';
import { bearerToken, parseJsonBody } from './read-request.ts';
import { sendPlainAnswer } from './send-plain-answer.ts';
import { TakenBody } from './taken-body.ts';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

export interface PlainCallsInput {
  executor: Pick<Executor, 'admit' | 'start'>;
  verifier: TokenVerifier;
  guard: ReturnType<typeof createHostGuard>;
  /** Aborts when the server begins to stop. */
  closing: AbortSignal;
  bodyLimitBytes: number;
}

/** Why the framework is asked to answer a request that has been tried already. */
const failures = new WeakMap<IncomingMessage, { error: unknown }>();

export function rememberFailure(request: IncomingMessage, error: unknown): void {
  failures.set(request, { error });
}

/** Throws what a plain call failed with before it was handed to the framework, so that all errors are answered in one place. */
export function throwEarlierFailure(request: IncomingMessage): void {
  const failure = failures.get(request);
  if (failure !== undefined) throw failure.error;
}

/**
 * [BFF-2] A lane for what nearly all requests are: the call of one tool by a caller whose token is known, answered once, in JSON. It calls the
 * same functions as the route does and leaves out the framework's way around them. Everything else takes the usual way, also if that shows
 * only in the body: the bytes are kept, and the framework reads them as if they had just come.
 */
export function createPlainCalls({ executor, verifier, guard, closing, bodyLimitBytes }: PlainCallsInput, handle: Handle): Handle {
  const isPlain = createPlainHead({ guard, bodyLimitBytes });

  return function takePlainCall(request, response) {
    const principal = !closing.aborted && isPlain(request) ? knownCaller(verifier, request.headers.authorization) : undefined;
    if (principal === undefined) handle(request, response);
    else new PlainCall({ request, response, principal, executor, handle }).read();
  };
}

/** The caller of a plain call, where the token is known. `purpose` is what else a verifier of another door has to know. */
export function knownCaller<Purpose extends unknown[]>(
  verifier: { verify(token: string, ...purpose: Purpose): Principal | Promise<Principal> },
  authorization: string | undefined,
  ...purpose: Purpose
): Principal | undefined {
  try {
    const verified = verifier.verify(bearerToken(authorization), ...purpose);
    if (!(verified instanceof Promise)) return verified;
    // The framework joins the same verification.
    verified.catch(() => undefined);
  } catch {
    // The framework says what is wrong.
  }
  return undefined;
}

interface PlainCallInput {
  request: IncomingMessage;
  response: ServerResponse;
  principal: Principal;
  executor: Pick<Executor, 'admit' | 'start'>;
  handle: Handle;
}

class PlainCall implements AnswerSink {
  readonly #input: PlainCallInput;
  #body: TakenBody | undefined;
  #call: RunningCall | undefined;
  #isAnswered = false;

  constructor(input: PlainCallInput) {
    this.#input = input;
  }

  read(): void {
    this.#body = new TakenBody(this.#input.request, () => this.#begin());
  }

  #begin(): void {
    const { executor, principal } = this.#input;
    const request = parsePlainCall(this.#body?.text ?? '');
    if (request === undefined) return this.#handOver();
    try {
      const admitted = executor.admit(principal, request);
      if (!(admitted instanceof Promise)) return this.#run(admitted);
      admitted.then((one) => this.#run(one)).catch((error: unknown) => this.failed(error));
    } catch (error) {
      this.failed(error);
    }
  }

  #run(admitted: AdmittedCall): void {
    const { executor, response } = this.#input;
    const { call } = admitted;
    this.#call = call;
    executor.start(admitted, this);
    // Quick tools are done before this matters.
    if (!call.pending || call.isDurable) return;
    response.on('close', () => {
      if (!this.#isAnswered) call.end('cancelled');
    });
  }

  answered(answer: Answer): void {
    const { request, response } = this.#input;
    this.#isAnswered = true;
    if (response.destroyed) return;
    sendPlainAnswer(request, response, answerJson(answer, this.#call?.rawText));
  }

  failed(error: unknown): void {
    rememberFailure(this.#input.request, error);
    this.#handOver();
  }

  #handOver(): void {
    const { request, response, handle } = this.#input;
    this.#body?.giveBackTo(() => handle(request, response));
  }
}

const longestName = 512;

/** The call that the body of a plain call asks for; undefined where the framework has to look at it. */
export function parsePlainCall(text: string): CallRequest | undefined {
  try {
    return plainRequest(parseJsonBody(text));
  } catch {
    return undefined;
  }
}

/** A body of just a tool and its arguments, checked by hand; the schema says what is wrong with any other. */
function plainRequest(body: unknown): CallRequest | undefined {
  if (!isObject(body)) return undefined;
  let fields = 0;
  for (const _name in body) fields++;
  const { name, tool_id: id, arguments: args } = body;
  const tool = name ?? id;
  if (fields !== 2 || typeof tool !== 'string' || tool.length === 0 || tool.length > longestName || !isObject(args)) return undefined;
  return { tool, arguments: args };
}
