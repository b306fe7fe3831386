import { hash, randomUUID } from 'node:crypto';
import type { Executor } from '../execution/executor.ts';
import type { RunningCall } from '../execution/running-call.ts';
import type { Answer } from '../model/call.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import type { Seals } from '../secrets/seals.ts';
import { callResultText } from './call-result.ts';
import { admitCall } from './call-tool.ts';
import type { DoorExchange } from './door-exchange.ts';
import { tellLog, tellProgress } from './pass-on-events.ts';
import { DoorError, rpcCodes } from './rpc.ts';

const field = 'mcp-request-state';
/** How long a client has to come back with its answers, as long as the call itself may take. */
const longestWaitMs = 600_000;

/**
 * [DOOR-5] Calls in rounds, as the stateless revision has them (SEP-2322): a tool that asks something ends the request with the question, and
 * the client sends the same request again with the answer. The call itself waits here meanwhile; its state in the hands of the client is its
 * name, sealed for this caller.
 */
export class Rounds {
  readonly #executor: Executor;
  readonly #seals: Seals;
  readonly #waiting = new Map<string, Round>();

  constructor(executor: Executor, seals: Seals) {
    this.#executor = executor;
    this.#seals = seals;
  }

  async call(exchange: DoorExchange, tool: Tool, args: JsonObject, { requestState, inputResponses }: JsonObject): Promise<string> {
    const about = hash('sha256', JSON.stringify([tool.tool_id, args]), 'base64url');
    if (requestState !== undefined) return this.#next(exchange, this.#take(exchange, requestState, about), inputResponses);
    const admitted = await admitCall(this.#executor, exchange, tool, args);
    if (typeof admitted === 'string') return admitted;
    const round = new Round(admitted.call, about);
    round.follow(exchange);
    round.answer = this.#executor.run(admitted);
    // Whoever waits for it in a later round is told.
    round.answer.catch(() => undefined);
    return this.#result(exchange, round);
  }

  #next(exchange: DoorExchange, round: Round, responses: unknown): Promise<string> {
    round.follow(exchange);
    round.take(isObject(responses) ? responses : {});
    return this.#result(exchange, round);
  }

  /** The call that the client goes on with; only the one who began it can. */
  #take({ caller }: DoorExchange, state: unknown, about: string): Round {
    const id = typeof state === 'string' ? this.#seals.open(state, { id: caller.principal.key, field }) : undefined;
    const round = id === undefined ? undefined : this.#waiting.get(id);
    if (round?.about !== about)
      throw new DoorError(rpcCodes.invalidParams, 'requestState is unknown, or has expired: begin anew, without it');
    round.stopWaiting();
    this.#waiting.delete(id ?? '');
    return round;
  }

  async #result({ caller }: DoorExchange, round: Round): Promise<string> {
    const answer = await round.outcome();
    if (answer !== undefined) return callResultText(answer, { version: caller.version, modern: true });
    const id = randomUUID();
    this.#waiting.set(id, round);
    round.waitFor(longestWaitMs, () => this.#waiting.delete(id));
    const requestState = this.#seals.seal(id, { id: caller.principal.key, field });
    return JSON.stringify({ resultType: 'input_required', inputRequests: round.questions(), requestState });
  }
}

class Round {
  readonly about: string;
  answer: Promise<Answer> | undefined;
  readonly #call: RunningCall;
  /** By the key under which the client answers. */
  readonly #asked = new Map<string, { id: string; request: JsonObject }>();
  #count = 0;
  #onQuestion: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isWaiting = false;

  constructor(call: RunningCall, about: string) {
    this.#call = call;
    this.about = about;
  }

  /** Tells this exchange from now on, and ends with it unless it ended with a question. */
  follow(exchange: DoorExchange): void {
    const call = this.#call;
    exchange.onGone(() => {
      if (!this.#isWaiting) call.end('cancelled');
    });
    call.onEvent = (event) => {
      if (event.type === 'progress') tellProgress(exchange, event);
      else if (event.type === 'log') tellLog(exchange, event);
      else if (!exchange.caller.abilities.elicitation) call.answer(event.elicitation_id, { action: 'decline' });
      else {
        this.#asked.set(`q${++this.#count}`, { id: event.elicitation_id, request: event.request });
        this.#onQuestion?.();
      }
    };
  }

  /** The answer, or undefined where the call waits for its caller. */
  async outcome(): Promise<Answer | undefined> {
    const asked = new Promise<undefined>((resolve) => {
      // Questions that come together are asked together.
      this.#onQuestion = () => setImmediate(() => resolve(undefined));
      if (this.#asked.size > 0) this.#onQuestion();
    });
    return Promise.race([this.answer, asked]);
  }

  questions(): JsonObject {
    return Object.fromEntries([...this.#asked].map(([key, { request }]) => [key, { method: 'elicitation/create', params: request }]));
  }

  /** What is left unanswered is asked again. */
  take(responses: JsonObject): void {
    for (const [key, { id }] of this.#asked) {
      const response = responses[key];
      if (!isObject(response)) continue;
      this.#asked.delete(key);
      this.#call.answer(id, response);
    }
  }

  waitFor(ms: number, onOver: () => void): void {
    this.#isWaiting = true;
    this.#timer = setTimeout(() => {
      onOver();
      this.#call.end('cancelled');
    }, ms);
  }

  stopWaiting(): void {
    this.#isWaiting = false;
    clearTimeout(this.#timer);
  }
}
