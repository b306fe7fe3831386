import { randomUUID } from 'node:crypto';
import type { AdmittedCall } from '../execution/admission.ts';
import type { Executor } from '../execution/executor.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import type { Seals } from '../secrets/seals.ts';
import { callResultText } from './call-result.ts';
import { admitCall, admitRequest, requestResult } from './call-tool.ts';
import { modernVersion } from './door-caller.ts';
import type { DoorExchange } from './door-exchange.ts';
import type { DoorMail } from './door-mail.ts';
import { FarRounds, type RoundResult } from './far-rounds.ts';
import type { ExplainError } from './refuse.ts';
import { Round, type Asked, type RoundEnd, type RoundExchange } from './round.ts';
import { DoorError, rpcCodes } from './rpc.ts';

const field = 'mcp-request-state';
/** How long a client has to come back with its answers, unless the call itself ends before. */
const longestWaitMs = 600_000;
/** Calls of one person that wait at once; the oldest is given up for another. */
const mostWaiting = 200;
/** Longer than any that we gave out. */
const longestState = 4096;

interface RoundsInput {
  executor: Executor;
  seals: Seals;
  mail: DoorMail;
  explain: ExplainError;
}

/** What becomes of a round at another server. */
interface FarEnd {
  isCall: boolean;
  done(result: RoundResult): void;
}

/**
 * [DOOR-5] Calls in rounds, as the stateless revision has them (SEP-2322): a tool that asks something ends the request with the question, and
 * the client sends the same request again with the answer. The call itself waits here meanwhile; its state in the hands of the client is its
 * name, sealed for this caller. Where the client comes to another server with it, that one sends an errand here.
 */
export class Rounds {
  readonly #input: RoundsInput;
  readonly #waiting = new Map<string, Round>();
  readonly #far: FarRounds;

  constructor(input: RoundsInput) {
    this.#input = input;
    this.#far = new FarRounds({
      mail: input.mail,
      explain: input.explain,
      take: (id, owner, asked) => {
        const round = this.#take(id, asked);
        if (round.owner !== owner) throw unknownState();
        return round;
      },
      go: (round, exchange, responses, isCall) =>
        new Promise((resolve, reject) => {
          round.follow(exchange, responses, {
            answered: (answer, raw) =>
              resolve({
                isQuestion: false,
                text: isCall ? callResultText(answer, modernVersion, raw) : JSON.stringify(requestResult(answer)),
              }),
            asked: () => resolve({ isQuestion: true, text: this.#question(round) }),
            failed: reject,
          });
        }),
    });
  }

  call(exchange: DoorExchange, tool: Tool, args: JsonObject, params: JsonObject): void {
    const end: RoundEnd = {
      answered: (answer, raw) => exchange.answered(callResultText(answer, modernVersion, raw)),
      asked: (round) => exchange.answered(this.#question(round)),
      failed: (error) => exchange.failed(error),
    };
    const asked = { toolId: tool.tool_id, args };
    const far: FarEnd = { isCall: true, done: ({ text }) => exchange.answered(text) };
    if (params['requestState'] !== undefined) this.#goOn(exchange, asked, params, end, far);
    else admitCall(this.#input.executor, exchange, tool, args, (admitted) => this.#begin(exchange, { admitted, asked }, params, end));
  }

  /** Resolves with the result of another request to a source, or with a question as JSON. */
  async ask(exchange: DoorExchange, tool: Tool, args: JsonObject, params: JsonObject): Promise<JsonObject | string> {
    const asked = { toolId: tool.tool_id, args };
    const isNext = params['requestState'] !== undefined;
    const admitted = isNext ? undefined : await admitRequest(this.#input.executor, exchange, tool, args);
    return new Promise((resolve, reject) => {
      const end: RoundEnd = {
        answered: (answer) => resolve(Promise.resolve(answer).then(requestResult)),
        asked: (round) => resolve(this.#question(round)),
        failed: reject,
      };
      const done = ({ text, isQuestion }: RoundResult) => resolve(isQuestion ? text : (JSON.parse(text) as JsonObject));
      if (admitted === undefined) this.#goOn(exchange, asked, params, end, { isCall: false, done });
      else this.#begin(exchange, { admitted, asked }, params, end);
    });
  }

  #begin(exchange: DoorExchange, { admitted, asked }: { admitted: AdmittedCall; asked: Asked }, params: JsonObject, end: RoundEnd): void {
    const round = new Round(admitted.call, asked);
    const responses = responsesIn(params);
    admitted.call.isForewarned = Object.keys(responses).length > 0;
    round.follow(roundExchange(exchange), responses, end);
    this.#input.executor.start(admitted, round);
  }

  /** The next round of a call that waits, here or at another server; only the one who began it can go on with it. */
  #goOn(exchange: DoorExchange, asked: Asked, params: JsonObject, end: RoundEnd, far: FarEnd): void {
    const owner = exchange.caller.principal.key;
    const here = roundExchange(exchange);
    const responses = responsesIn(params);
    try {
      const { server, id } = this.#placeOf(params['requestState'], owner);
      if (server === this.#input.mail.server) return this.#take(id, asked).follow(here, responses, end);
      const sent = this.#far.send(here, { server, round: id, owner, ...asked, responses, isCall: far.isCall });
      sent.then(far.done).catch((error: unknown) => end.failed(error));
    } catch (error) {
      end.failed(error);
    }
  }

  #placeOf(state: unknown, owner: string): { server: string; id: string } {
    const isState = typeof state === 'string' && state.length <= longestState;
    const [server = '', id = ''] = (isState ? this.#input.seals.open(state, { id: owner, field }) : undefined)?.split(' ') ?? [];
    if (id === '') throw unknownState();
    return { server, id };
  }

  #take(id: string, asked: Asked): Round {
    const round = this.#waiting.get(id);
    if (round?.isAbout(asked) !== true) throw unknownState();
    round.stopWaiting();
    this.#waiting.delete(id);
    return round;
  }

  #question(round: Round): string {
    const { mail, seals } = this.#input;
    const id = randomUUID();
    const own = [...this.#waiting].filter(([, { owner }]) => owner === round.owner);
    const [oldest] = own.length >= mostWaiting ? own : [];
    if (oldest !== undefined) {
      this.#waiting.delete(oldest[0]);
      oldest[1].giveUp();
    }
    this.#waiting.set(id, round);
    round.waitFor(longestWaitMs, () => this.#waiting.delete(id));
    const requestState = seals.seal(`${mail.server} ${id}`, { id: round.owner, field });
    return JSON.stringify({ resultType: 'input_required', inputRequests: round.questions(), requestState });
  }
}

function roundExchange(exchange: DoorExchange): RoundExchange {
  const { progressToken, logLevel, notify, caller } = exchange;
  return { progressToken, logLevel, notify, onGone: (listener) => exchange.onGone(listener), abilities: caller.abilities };
}

function responsesIn({ inputResponses }: JsonObject): JsonObject {
  return isObject(inputResponses) ? inputResponses : {};
}

function unknownState(): DoorError {
  return new DoorError(rpcCodes.invalidParams, 'requestState is unknown, or has expired: begin anew, without it');
}
