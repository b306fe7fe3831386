import { isObject, type JsonObject } from '../model/json.ts';
import type { DoorCaller } from './door-caller.ts';
import type { DoorExchange, LogLevel } from './door-exchange.ts';
import type { LegacyAnswer } from './legacy-answer.ts';
import type { LiveSession } from './live-session.ts';
import { asDoorError } from './refuse.ts';
import { errorText, notificationText, resultText, type RpcId } from './rpc.ts';

interface LegacyExchangeInput {
  id: RpcId;
  caller: DoorCaller;
  session: LiveSession | undefined;
  answer: LegacyAnswer;
  params: unknown;
}

/** A request of a revision with sessions while it is being answered: the client can be told and asked meanwhile, and can cancel it. */
export class LegacyExchange implements DoorExchange {
  readonly caller: DoorCaller;
  readonly progressToken: string | number | undefined;
  readonly #id: RpcId;
  readonly #session: LiveSession | undefined;
  readonly #answer: LegacyAnswer;
  readonly #done: (() => void) | undefined;
  readonly #cancels: (() => void)[] = [];

  constructor({ id, caller, session, answer, params }: LegacyExchangeInput) {
    this.caller = caller;
    this.#id = id;
    this.#session = session;
    this.#answer = answer;
    this.progressToken = progressTokenOf(params);
    this.#done = session?.running(id, () => this.#cancel());
  }

  answered(result: string): void {
    this.#done?.();
    this.#answer.answer(resultText(this.#id, result));
  }

  failed(error: unknown): void {
    this.#done?.();
    this.#answer.answer(errorText(this.#id, asDoorError(error)));
  }

  get logLevel(): LogLevel | undefined {
    return this.#session?.logLevel;
  }

  notify = (method: string, params: JsonObject): void => this.#answer.tell(notificationText(method, params));

  async ask(method: string, params: JsonObject): Promise<JsonObject> {
    if (this.#session === undefined || !this.#answer.canTell) throw new Error('The client cannot be asked');
    const { json, answer } = this.#session.question(method, params);
    this.#answer.tell(json);
    return answer;
  }

  onGone(listener: () => void): void {
    this.#cancels.push(listener);
    this.#answer.onGone(listener);
  }

  #cancel(): void {
    for (const listener of this.#cancels) listener();
  }
}

export function progressTokenOf(params: unknown): string | number | undefined {
  const meta = isObject(params) ? params['_meta'] : undefined;
  const token = isObject(meta) ? meta['progressToken'] : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}
