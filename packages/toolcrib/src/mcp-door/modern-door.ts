import type { JsonObject } from '../model/json.ts';
import { abilitiesOf, agentOf, modernVersion, type DoorCaller } from './door-caller.ts';
import { capabilities, createDoorMethods, paramsOf, serverInfo, type DoorMethods } from './door-methods.ts';
import type { Visit } from './door-visit.ts';
import type { LegacyDoorInput } from './legacy-door.ts';
import { listen } from './listen.ts';
import { ModernAnswer } from './modern-answer.ts';
import { fail, ModernExchange } from './modern-exchange.ts';
import { metaKeys, readModernHead } from './modern-head.ts';
import { cacheHints } from './offer-methods.ts';
import { idRule, isRpcId } from './refuse.ts';
import { Rounds } from './rounds.ts';
import { DoorError, resultText, rpcCodes, type RpcId } from './rpc.ts';

/** Logging is per request in this revision. */
const { logging: _logging, ...modernCapabilities } = capabilities;

/** [DOOR-2] The stateless revision, 2026-07-28: every request says everything about itself. */
export class ModernDoor {
  readonly #input: LegacyDoorInput;
  readonly #methods: DoorMethods;

  constructor(input: LegacyDoorInput) {
    this.#input = input;
    const rounds = new Rounds({ ...input.parts, mail: input.mail, explain: input.explain });
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
    this.#answer(visit, id, method, message['params']);
  }

  #answer({ principal, address, headers, reply }: Visit, id: RpcId, method: string, given: unknown): void {
    const { explain } = this.#input;
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
      if (method === 'subscriptions/listen')
        listen(this.#input, this.#methods, { caller, id, params, answer }).catch((error: unknown) => fail(answer, id, explain(error)));
      else if (method === 'server/discover') answer.answer(resultText(id, discovered()));
      else this.#methods.dispatch(method, params, new ModernExchange({ id, caller, answer, params, meta, explain }));
    } catch (error) {
      fail(answer, id, explain(error));
    }
    answer.wait();
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
