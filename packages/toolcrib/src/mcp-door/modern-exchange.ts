import type { JsonObject } from '../model/json.ts';
import type { DoorCaller } from './door-caller.ts';
import { logLevels, type DoorExchange, type LogLevel } from './door-exchange.ts';
import { progressTokenOf } from './legacy-exchange.ts';
import type { ModernAnswer } from './modern-answer.ts';
import { metaKeys } from './modern-head.ts';
import type { ExplainError } from './refuse.ts';
import { errorText, notificationText, resultText, rpcCodes, type DoorError, type RpcId } from './rpc.ts';

interface ModernExchangeInput {
  id: RpcId;
  caller: DoorCaller;
  answer: ModernAnswer;
  params: JsonObject;
  meta: JsonObject;
  explain: ExplainError;
}

/** A request of the stateless revision while it is being answered. */
export class ModernExchange implements DoorExchange {
  readonly caller: DoorCaller;
  readonly progressToken: string | number | undefined;
  readonly logLevel: LogLevel | undefined;
  readonly #id: RpcId;
  readonly #answer: ModernAnswer;
  readonly #explain: ExplainError;

  constructor({ id, caller, answer, params, meta, explain }: ModernExchangeInput) {
    this.caller = caller;
    this.#id = id;
    this.#answer = answer;
    this.#explain = explain;
    this.progressToken = progressTokenOf(params);
    const level = meta[metaKeys.logLevel];
    this.logLevel = level === undefined ? undefined : logLevels.find((known) => known === level);
  }

  answered(result: string): void {
    this.#answer.answer(resultText(this.#id, result));
  }

  failed(error: unknown): void {
    fail(this.#answer, this.#id, this.#explain(error));
  }

  notify = (method: string, params: JsonObject): void => this.#answer.tell(notificationText(method, params));

  ask(): Promise<JsonObject> {
    return Promise.reject(new Error('Questions end the request in this revision'));
  }

  onGone(listener: () => void): void {
    this.#answer.onGone(listener);
  }
}

export function fail(answer: ModernAnswer, id: RpcId, failure: DoorError): void {
  answer.answer(errorText(id, failure), failure.code === rpcCodes.methodNotFound ? 404 : failure.status);
}
