import { hash, randomUUID } from 'node:crypto';
import type { AdmittedCall } from '../execution/admission.ts';
import type { Executor } from '../execution/executor.ts';
import type { RunningCall } from '../execution/running-call.ts';
import type { Answer } from '../model/call.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import type { Seals } from '../secrets/seals.ts';
import { callResultText } from './call-result.ts';
import { admitCall, admitRequest, requestResult } from './call-tool.ts';
import { abilityFor, capabilitiesOf } from './door-caller.ts';
import type { DoorExchange } from './door-exchange.ts';
import { tellLog, tellProgress } from './pass-on-events.ts';
import { DoorError, rpcCodes } from './rpc.ts';

const field = 'mcp-request-state';
/** How long a client has to come back with its answers, unless the call itself ends before. */
const longestWaitMs = 600_000;
/** Questions that come together are asked together. */
const collectMs = 20;

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

  /** Resolves with the result as JSON. */
  async call(exchange: DoorExchange, tool: Tool, args: JsonObject, params: JsonObject): Promise<string> {
    const round = await this.#roundOf(exchange, tool, args, params, () => admitCall(this.#executor, exchange, tool, args));
    if (typeof round === 'string') return round;
    const answer = await round.outcome();
    return answer === undefined
      ? this.#question(exchange, round)
      : callResultText(answer, { version: exchange.caller.version, modern: true });
  }

  /** Resolves with the result of another request to a source, or with a question as JSON. */
  async ask(exchange: DoorExchange, request: Tool, args: JsonObject, params: JsonObject): Promise<JsonObject | string> {
    const round = await this.#roundOf(exchange, request, args, params, () => admitRequest(this.#executor, exchange, request, args));
    if (typeof round === 'string') return round;
    const answer = await round.outcome();
    return answer === undefined ? this.#question(exchange, round) : requestResult(answer);
  }

  /** The first round of a call, or the next one of a call that waits. */
  async #roundOf(
    exchange: DoorExchange,
    tool: Tool,
    args: JsonObject,
    { requestState, inputResponses }: JsonObject,
    admit: () => Promise<AdmittedCall | string>,
  ): Promise<Round | string> {
    const about = hash('sha256', JSON.stringify([tool.tool_id, args]), 'base64url');
    const responses = isObject(inputResponses) ? inputResponses : {};
    if (requestState !== undefined) {
      const round = this.#take(exchange, requestState, about);
      round.follow(exchange, responses);
      return round;
    }
    const admitted = await admit();
    if (typeof admitted === 'string') return admitted;
    const round = new Round(admitted.call, about);
    admitted.call.isForewarned = Object.keys(responses).length > 0;
    round.follow(exchange, responses);
    round.begin(this.#executor.run(admitted));
    return round;
  }

  /** The call that the client goes on with; only the one who began it can. */
  #take({ caller }: DoorExchange, state: unknown, about: string): Round {
    const id = typeof state === 'string' ? this.#seals.open(state, { id: caller.principal.key, field }) : undefined;
    const round = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || round?.about !== about) {
      throw new DoorError(rpcCodes.invalidParams, 'requestState is unknown, or has expired: begin anew, without it');
    }
    round.stopWaiting();
    this.#waiting.delete(id);
    return round;
  }

  #question({ caller }: DoorExchange, round: Round): string {
    const id = randomUUID();
    this.#waiting.set(id, round);
    round.waitFor(longestWaitMs, () => this.#waiting.delete(id));
    const requestState = this.#seals.seal(id, { id: caller.principal.key, field });
    return JSON.stringify({ resultType: 'input_required', inputRequests: round.questions(), requestState });
  }
}

interface Question {
  method: string;
  params: JsonObject;
  resolve(answer: JsonObject): void;
}

/** One call that may end several requests with questions before it has its answer. */
class Round {
  readonly about: string;
  readonly #call: RunningCall;
  #answer: Promise<Answer> | undefined;
  /** By the key under which the client answers: the server's own, where it has one. */
  readonly #asked = new Map<string, Question>();
  #given: JsonObject = {};
  #count = 0;
  #missing: string | undefined;
  #onQuestion: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isWaiting = false;

  constructor(call: RunningCall, about: string) {
    this.#call = call;
    this.about = about;
  }

  begin(answer: Promise<Answer>): void {
    this.#answer = answer;
    // Whoever waits for it in a later round is told.
    answer.catch(() => undefined);
  }

  /** Tells and asks through this exchange from now on, and ends with it unless it ended with a question. */
  follow(exchange: DoorExchange, responses: JsonObject): void {
    const call = this.#call;
    const { abilities } = exchange.caller;
    this.#given = responses;
    call.clientCapabilities = capabilitiesOf(abilities);
    exchange.onGone(() => {
      if (!this.#isWaiting) call.end('cancelled');
    });
    call.onEvent = (event) => {
      if (event.type === 'progress') tellProgress(exchange, event);
      else if (event.type === 'log') tellLog(exchange, event);
    };
    call.onAsk = (method, params, key) => {
      const ability = abilityFor[method];
      if (ability !== undefined && abilities[ability]) return this.#ask(method, params, key);
      if (ability === 'elicitation') return Promise.resolve({ action: 'decline' });
      this.#missing ??= ability;
      return Promise.reject(new Error(`The client does not offer ${method}`));
    };
    for (const [key, question] of this.#asked) this.#settle(key, question);
  }

  /** The answer, or undefined where the call waits for its caller. */
  async outcome(): Promise<Answer | undefined> {
    const asked = new Promise<undefined>((resolve) => {
      this.#onQuestion = () => setTimeout(() => resolve(undefined), collectMs);
      if (this.#asked.size > 0) this.#onQuestion();
    });
    const answer = await Promise.race([this.#answer, asked]);
    this.#onQuestion = undefined;
    if (answer !== undefined) throwIfMissing(answer, this.#missing);
    return answer;
  }

  questions(): JsonObject {
    return Object.fromEntries([...this.#asked].map(([key, { method, params }]) => [key, { method, params: withoutProgress(params) }]));
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

  #ask(method: string, params: JsonObject, key: string | undefined): Promise<JsonObject> {
    const { promise, resolve } = Promise.withResolvers<JsonObject>();
    const name = key === undefined || this.#asked.has(key) ? `question-${++this.#count}` : key;
    const question = { method, params, resolve };
    this.#asked.set(name, question);
    this.#settle(name, question);
    if (this.#asked.has(name)) this.#onQuestion?.();
    return promise;
  }

  /** What is left unanswered is asked again. */
  #settle(key: string, { resolve }: Question): void {
    const response = this.#given[key];
    if (!isObject(response)) return;
    this.#asked.delete(key);
    resolve(response);
  }
}

/** Fails where the tool needed something that the client does not offer: the source says so, or was refused it here. */
function throwIfMissing({ error, metadata }: Answer, missing: string | undefined): void {
  const failure = metadata['rpc_error'];
  const told = isObject(failure) && failure['code'] === rpcCodes.missingCapability ? failure['data'] : undefined;
  if (error === null || (told === undefined && missing === undefined)) return;
  const data = told ?? { requiredCapabilities: { [missing ?? '']: {} } };
  throw new DoorError(rpcCodes.missingCapability, 'The tool needs something that the client does not offer', { status: 400, data });
}

/** Its token belongs to the connection with the source. */
function withoutProgress({ _meta: meta, ...params }: JsonObject): JsonObject {
  if (!isObject(meta)) return params;
  const { progressToken: _token, ...rest } = meta;
  return Object.keys(rest).length === 0 ? params : { ...params, _meta: rest };
}
