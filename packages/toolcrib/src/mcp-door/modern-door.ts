import type { JsonObject } from '../model/json.ts';
import { abilitiesOf, agentOf, modernVersion, type DoorCaller } from './door-caller.ts';
import { logLevels, type DoorExchange } from './door-exchange.ts';
import { capabilities, createDoorMethods, paramsOf, serverInfo, type DoorMethods } from './door-methods.ts';
import { progressTokenOf } from './legacy-exchange.ts';
import type { Visit } from './door-visit.ts';
import type { LegacyDoorInput } from './legacy-door.ts';
import { listen } from './listen.ts';
import { ModernAnswer } from './modern-answer.ts';
import { metaKeys, readModernHead } from './modern-head.ts';
import { cacheHints } from './offer-methods.ts';
import { asDoorError, idRule, isRpcId } from './refuse.ts';
import { Rounds } from './rounds.ts';
import { DoorError, errorText, notificationText, resultText, rpcCodes, type RpcId } from './rpc.ts';

/** Logging is per request in this revision. */
const { logging: _logging, ...modernCapabilities } = capabilities;

/** [DOOR-2] The stateless revision, 2026-07-28: every request says everything about itself. */
export class ModernDoor {
  readonly #input: LegacyDoorInput;
  readonly #methods: DoorMethods;

  constructor(input: LegacyDoorInput) {
    this.#input = input;
    const rounds = new Rounds(input.parts.executor, input.parts.seals);
    this.#methods = createDoorMethods(
      input.parts,
      (exchange, tool, args, params) => rounds.call(exchange, tool, args, params),
      (exchange, request, args, params) => rounds.ask(exchange, request, args, params),
    );
  }

  post(visit: Visit, message: JsonObject): void {
    const { id, method } = message;
    if (typeof method !== 'string') throw new DoorError(rpcCodes.invalidRequest, 'The body is no JSON-RPC request', { status: 400 });
    // Notifications need no answer, and none of them says anything here.
    if (id === undefined) return visit.reply.send(202);
    if (!isRpcId(id)) throw new DoorError(rpcCodes.invalidRequest, idRule, { status: 400 });
    void this.#answer(visit, id, method, message['params']);
  }

  async #answer({ principal, address, headers, reply }: Visit, id: RpcId, method: string, given: unknown): Promise<void> {
    const answer = new ModernAnswer(reply, headers.accept?.includes('text/event-stream') ?? false);
    try {
      const params = paramsOf(given);
      const meta = readModernHead(method, params, headers);
      const caller: DoorCaller = {
        principal,
        address,
        version: modernVersion,
        agent: agentOf(meta[metaKeys.client]),
        abilities: abilitiesOf(meta[metaKeys.capabilities]),
      };
      if (method === 'subscriptions/listen') return await listen(this.#input, this.#methods, { caller, id, params, answer });
      const exchange: DoorExchange = {
        caller,
        progressToken: progressTokenOf(params),
        logLevel: logLevels.find((level) => level === meta[metaKeys.logLevel]),
        notify: (what, about) => answer.tell(notificationText(what, about)),
        ask: () => Promise.reject(new Error('Questions end the request in this revision')),
        onGone: (listener) => answer.onGone(listener),
      };
      answer.answer(resultText(id, method === 'server/discover' ? discovered() : await this.#methods.dispatch(method, params, exchange)));
    } catch (error) {
      const failure = asDoorError(error);
      answer.answer(errorText(id, failure), failure.code === rpcCodes.methodNotFound ? 404 : failure.status);
    }
  }
}

function discovered(): string {
  return JSON.stringify({
    resultType: 'complete',
    supportedVersions: [modernVersion],
    capabilities: modernCapabilities,
    ...cacheHints,
    _meta: { [metaKeys.server]: serverInfo },
  });
}
