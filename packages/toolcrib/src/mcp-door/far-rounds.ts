import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../model/json.ts';
import type { DoorMail, DoorMessageOf } from './door-mail.ts';
import type { ExplainError } from './refuse.ts';
import type { Asked, Round, RoundExchange } from './round.ts';
import { DoorError, rpcCodes } from './rpc.ts';

export interface RoundResult {
  /** Whether the call goes on to wait for its client. */
  isQuestion: boolean;
  text: string;
}

interface FarRoundsInput {
  mail: DoorMail;
  explain: ExplainError;
  /** A call of this owner that waits here, which is waited for no more. Throws where there is none. */
  take(id: string, owner: string, asked: Asked): Round;
  go(round: Round, exchange: RoundExchange, responses: JsonObject, isCall: boolean): Promise<RoundResult>;
}

interface FarRound extends Asked {
  server: string;
  round: string;
  owner: string;
  responses: JsonObject;
  isCall: boolean;
}

interface Errand extends PromiseWithResolvers<RoundResult> {
  exchange: RoundExchange;
  timer: NodeJS.Timeout;
}

/** How soon the other server has to say that the call waits there. */
const patienceMs = 10_000;
/** How long it may then be silent. */
const longestSilenceMs = 900_000;

/** [DOOR-5] The next round of a call that waits at another server: the client has come here with its answers. */
export class FarRounds {
  readonly #input: FarRoundsInput;
  /** Sent to other servers. */
  readonly #errands = new Map<string, Errand>();
  /** Served for other servers, and how to end each. */
  readonly #served = new Map<string, () => void>();

  constructor(input: FarRoundsInput) {
    this.#input = input;
    const { mail } = input;
    mail.on('round', (message, from) => void this.#serve(message, from));
    mail.on('round-gone', ({ errand }) => this.#served.get(errand)?.());
    mail.on('round-taken', ({ errand }) => this.#wait(errand, longestSilenceMs));
    mail.on('round-notice', ({ errand, method, params }) => {
      this.#wait(errand, longestSilenceMs);
      this.#errands.get(errand)?.exchange.notify(method, params);
    });
    mail.on('round-result', ({ errand, text, isQuestion }) => this.#over(errand)?.resolve({ text, isQuestion }));
    mail.on('round-error', ({ errand, code, message, status, data }) =>
      this.#over(errand)?.reject(new DoorError(code, message, { status, ...(data !== undefined && { data }) })),
    );
  }

  async send(exchange: RoundExchange, { server, ...round }: FarRound): Promise<RoundResult> {
    const { mail } = this.#input;
    const id = randomUUID();
    const errand = { ...Promise.withResolvers<RoundResult>(), exchange, timer: setTimeout(() => undefined, 0) };
    this.#errands.set(id, errand);
    this.#wait(id, patienceMs);
    exchange.onGone(() => {
      if (this.#over(id) !== undefined) mail.tell({ kind: 'round-gone', to: server, errand: id });
      errand.reject(new Error('The client has gone'));
    });
    const { progressToken, logLevel, abilities } = exchange;
    const about = { ...(progressToken !== undefined && { progressToken }), ...(logLevel && { logLevel }), abilities };
    mail.send({ kind: 'round', to: server, errand: id, ...round, ...about }).catch((error: unknown) => this.#over(id)?.reject(error));
    return errand.promise;
  }

  #wait(id: string, ms: number): void {
    const errand = this.#errands.get(id);
    if (errand === undefined) return;
    clearTimeout(errand.timer);
    errand.timer = setTimeout(() => {
      const message = 'The server at which this call waited does not answer: begin anew, without requestState';
      this.#over(id)?.reject(new DoorError(rpcCodes.invalidParams, message));
    }, ms).unref();
  }

  #over(id: string): Errand | undefined {
    const errand = this.#errands.get(id);
    this.#errands.delete(id);
    clearTimeout(errand?.timer);
    return errand;
  }

  async #serve(message: DoorMessageOf<'round'>, to: string): Promise<void> {
    const { mail, explain, take, go } = this.#input;
    const { errand, abilities, progressToken, logLevel } = message;
    const gone: (() => void)[] = [];
    this.#served.set(errand, () => gone.forEach((listener) => listener()));
    try {
      const { args } = message;
      const round = take(message.round, message.owner, { toolId: message.toolId, args });
      mail.tell({ kind: 'round-taken', to, errand });
      const exchange = {
        abilities,
        progressToken,
        logLevel,
        notify: (method: string, params: JsonObject) => mail.tell({ kind: 'round-notice', to, errand, method, params }),
        onGone: (listener: () => void) => void gone.push(listener),
      };
      const result = await go(round, exchange, message.responses, message.isCall);
      await mail.send({ kind: 'round-result', to, errand, ...result });
    } catch (error) {
      const { code, message: words, status, data } = explain(error);
      mail.tell({ kind: 'round-error', to, errand, code, message: words, status, ...(data !== undefined && { data }) });
    } finally {
      this.#served.delete(errand);
    }
  }
}
