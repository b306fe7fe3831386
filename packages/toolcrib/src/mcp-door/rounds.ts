import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { AdmittedCall } from '../execution/admission.ts';
import type { AnswerSink } from '../execution/call-run.ts';
import type { Executor } from '../execution/executor.ts';
import type { RunningCall } from '../execution/running-call.ts';
import type { Answer, RawText } from '../model/call.ts';
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

  call(exchange: DoorExchange, tool: Tool, args: JsonObject, params: JsonObject): void {
    const end: RoundEnd = {
      answered: (answer, raw) => exchange.answered(callResultText(answer, exchange.caller.version, raw)),
      asked: (round) => exchange.answered(this.#question(exchange, round)),
      failed: (error) => exchange.failed(error),
    };
    const asked = { tool, args };
    if (params['requestState'] !== undefined) this.#goOn(exchange, asked, params, end);
    else admitCall(this.#executor, exchange, tool, args, (admitted) => this.#begin(exchange, { ...asked, admitted }, params, end));
  }

  /** Resolves with the result of another request to a source, or with a question as JSON. */
  async ask(exchange: DoorExchange, tool: Tool, args: JsonObject, params: JsonObject): Promise<JsonObject | string> {
    const asked = { tool, args };
    const isNext = params['requestState'] !== undefined;
    const admitted = isNext ? undefined : await admitRequest(this.#executor, exchange, tool, args);
    return new Promise((resolve, reject) => {
      const end: RoundEnd = {
        answered: (answer) => resolve(Promise.resolve(answer).then(requestResult)),
        asked: (round) => resolve(this.#question(exchange, round)),
        failed: reject,
      };
      if (admitted === undefined) this.#goOn(exchange, asked, params, end);
      else this.#begin(exchange, { ...asked, admitted }, params, end);
    });
  }

  #begin(exchange: DoorExchange, { admitted, ...asked }: Asked & { admitted: AdmittedCall }, params: JsonObject, end: RoundEnd): void {
    const round = new Round(admitted.call, asked);
    const responses = responsesIn(params);
    admitted.call.isForewarned = Object.keys(responses).length > 0;
    round.follow(exchange, responses, end);
    this.#executor.start(admitted, round);
  }

  /** The next round of a call that waits; only the one who began it can go on with it. */
  #goOn(exchange: DoorExchange, asked: Asked, params: JsonObject, end: RoundEnd): void {
    const { requestState: state } = params;
    const id = typeof state === 'string' ? this.#seals.open(state, { id: exchange.caller.principal.key, field }) : undefined;
    const round = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || round?.isAbout(asked) !== true) {
      return end.failed(new DoorError(rpcCodes.invalidParams, 'requestState is unknown, or has expired: begin anew, without it'));
    }
    round.stopWaiting();
    this.#waiting.delete(id);
    round.follow(exchange, responsesIn(params), end);
  }

  #question({ caller }: DoorExchange, round: Round): string {
    const id = randomUUID();
    this.#waiting.set(id, round);
    round.waitFor(longestWaitMs, () => this.#waiting.delete(id));
    const requestState = this.#seals.seal(id, { id: caller.principal.key, field });
    return JSON.stringify({ resultType: 'input_required', inputRequests: round.questions(), requestState });
  }
}

function responsesIn({ inputResponses }: JsonObject): JsonObject {
  return isObject(inputResponses) ? inputResponses : {};
}

/** What a client must ask for again to go on. */
interface Asked {
  tool: Tool;
  args: JsonObject;
}

/** How a round ends. Exactly one of these is called, once. */
interface RoundEnd {
  answered(answer: Answer, raw: RawText | undefined): void;
  /** The call waits for the client. */
  asked(round: Round): void;
  failed(error: unknown): void;
}

interface Question {
  method: string;
  params: JsonObject;
  resolve(answer: JsonObject): void;
}

/** One call that may end several requests with questions before it has its answer. */
class Round implements AnswerSink {
  readonly #about: Asked;
  readonly #call: RunningCall;
  /** Of the request that is being answered; undefined while the client has the turn. */
  #end: RoundEnd | undefined;
  /** What the call came to, kept for a client that was asked meanwhile. */
  #outcome: ((end: RoundEnd) => void) | undefined;
  /** By the key under which the client answers: the server's own, where it has one. */
  readonly #asked = new Map<string, Question>();
  #given: JsonObject = {};
  #count = 0;
  #missing: string | undefined;
  #collecting: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(call: RunningCall, about: Asked) {
    this.#call = call;
    this.#about = about;
  }

  isAbout({ tool, args }: Asked): boolean {
    return tool.tool_id === this.#about.tool.tool_id && isDeepStrictEqual(args, this.#about.args);
  }

  /** Tells and asks through this exchange from now on, and ends with it unless it ended with a question. */
  follow(exchange: DoorExchange, responses: JsonObject, end: RoundEnd): void {
    const call = this.#call;
    const { abilities } = exchange.caller;
    this.#given = responses;
    this.#end = end;
    call.clientCapabilities = capabilitiesOf(abilities);
    exchange.onGone(() => {
      if (this.#end === end) call.end('cancelled');
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
    if (this.#outcome !== undefined) this.#finish(this.#outcome);
    else if (this.#asked.size > 0) this.#collect();
  }

  answered(answer: Answer): void {
    this.#finish((end) => {
      const missing = missingIn(answer, this.#missing);
      if (missing === undefined) end.answered(answer, this.#call.rawText);
      else end.failed(missing);
    });
  }

  failed(error: unknown): void {
    this.#finish((end) => end.failed(error));
  }

  #finish(outcome: (end: RoundEnd) => void): void {
    clearTimeout(this.#collecting);
    this.#collecting = undefined;
    this.#outcome = outcome;
    const end = this.#end;
    this.#end = undefined;
    if (end !== undefined) outcome(end);
  }

  /** Ends the request with the questions that have come by then. */
  #collect(): void {
    this.#collecting ??= setTimeout(() => {
      this.#collecting = undefined;
      const end = this.#end;
      this.#end = undefined;
      end?.asked(this);
    }, collectMs);
  }

  questions(): JsonObject {
    return Object.fromEntries([...this.#asked].map(([key, { method, params }]) => [key, { method, params: withoutProgress(params) }]));
  }

  waitFor(ms: number, onOver: () => void): void {
    this.#timer = setTimeout(() => {
      onOver();
      this.#call.end('cancelled');
    }, ms);
  }

  stopWaiting(): void {
    clearTimeout(this.#timer);
  }

  #ask(method: string, params: JsonObject, key: string | undefined): Promise<JsonObject> {
    const { promise, resolve } = Promise.withResolvers<JsonObject>();
    const name = key === undefined || this.#asked.has(key) ? `question-${++this.#count}` : key;
    const question = { method, params, resolve };
    this.#asked.set(name, question);
    this.#settle(name, question);
    if (this.#asked.has(name) && this.#end !== undefined) this.#collect();
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

/** Where the tool needed something that the client does not offer: the source says so, or was refused it here. */
function missingIn({ error, metadata }: Answer, missing: string | undefined): DoorError | undefined {
  const failure = metadata['rpc_error'];
  const told = isObject(failure) && failure['code'] === rpcCodes.missingCapability ? failure['data'] : undefined;
  if (error === null || (told === undefined && missing === undefined)) return undefined;
  const data = told ?? { requiredCapabilities: { [missing ?? '']: {} } };
  return new DoorError(rpcCodes.missingCapability, 'The tool needs something that the client does not offer', { status: 400, data });
}

/** Its token belongs to the connection with the source. */
function withoutProgress({ _meta: meta, ...params }: JsonObject): JsonObject {
  if (!isObject(meta)) return params;
  const { progressToken: _token, ...rest } = meta;
  return Object.keys(rest).length === 0 ? params : { ...params, _meta: rest };
}
