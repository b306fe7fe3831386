import { isObject, type JsonObject } from '../model/json.ts';
import type { DoorCaller } from './door-caller.ts';
import type { DoorExchange, LogLevel } from './door-exchange.ts';
import type { LegacyAnswer } from './legacy-answer.ts';
import type { LiveSession } from './live-session.ts';
import type { ExplainError } from './refuse.ts';
import type { Cancellable } from './running-requests.ts';
import { errorText, notificationText, resultText, type RpcId } from './rpc.ts';

interface LegacyExchangeInput {
  id: RpcId;
  caller: DoorCaller;
  session: LiveSession | undefined;
  answer: LegacyAnswer;
  params: unknown;
  explain: ExplainError;
}

/** A request of a revision with sessions while it is being answered: the client can be told and asked meanwhile, and can cancel it. */
export class LegacyExchange implements DoorExchange, Cancellable {
  readonly id: RpcId;
  place = -1;
  readonly caller: DoorCaller;
  readonly progressToken: string | number | undefined;
  readonly #session: LiveSession | undefined;
  readonly #answer: LegacyAnswer;
  readonly #explain: ExplainError;
  readonly #cancels: (() => void)[] = [];

  constructor({ id, caller, session, answer, params, explain }: LegacyExchangeInput) {
    this.caller = caller;
    this.id = id;
    this.#session = session;
    this.#answer = answer;
    this.#explain = explain;
    this.progressToken = progressTokenOf(params);
    session?.running.add(this);
  }

  answered(result: string): void {
    this.#session?.running.remove(this);
    this.#answer.answer(resultText(this.id, result));
  }

  failed(error: unknown): void {
    this.#session?.running.remove(this);
    this.#answer.answer(errorText(this.id, this.#explain(error)));
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

  cancel(): void {
    for (const listener of this.#cancels) listener();
  }
}

export function progressTokenOf(params: unknown): string | number | undefined {
  const meta = isObject(params) ? params['_meta'] : undefined;
  const token = isObject(meta) ? meta['progressToken'] : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}
