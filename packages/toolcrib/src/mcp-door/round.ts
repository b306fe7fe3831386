import { isDeepStrictEqual } from 'node:util';
import type { AnswerSink } from '../execution/call-run.ts';
import type { RunningCall } from '../execution/running-call.ts';
import type { Answer, RawText } from '../model/call.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { abilityFor, capabilitiesOf, type ClientAbilities } from './door-caller.ts';
import type { DoorExchange } from './door-exchange.ts';
import { tellLog, tellProgress } from './pass-on-events.ts';
import { DoorError, rpcCodes } from './rpc.ts';

/** Questions that come together are asked together. */
const collectMs = 20;

/** What a client must ask for again to go on. */
export interface Asked {
  toolId: string;
  args: JsonObject;
}

/** What a round needs of its request; the client may have come to another server with it. */
export type RoundExchange = Pick<DoorExchange, 'progressToken' | 'logLevel' | 'notify' | 'onGone'> & { abilities: ClientAbilities };

/** How a round ends. Exactly one of these is called, once. */
export interface RoundEnd {
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
export class Round implements AnswerSink {
  /** The key of the caller. */
  readonly owner: string;
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
    this.owner = call.principal.key;
    this.#about = about;
  }

  isAbout({ toolId, args }: Asked): boolean {
    return toolId === this.#about.toolId && isDeepStrictEqual(args, this.#about.args);
  }

  /** Tells and asks through this exchange from now on, and ends with it unless it ended with a question. */
  follow(exchange: RoundExchange, responses: JsonObject, end: RoundEnd): void {
    const call = this.#call;
    const { abilities } = exchange;
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

  /** Nobody will come back for it. */
  giveUp(): void {
    this.stopWaiting();
    this.#call.end('cancelled');
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
