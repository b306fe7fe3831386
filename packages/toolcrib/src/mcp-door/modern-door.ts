import { endWithToken } from '../http/end-with-token.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { abilitiesOf, agentOf, modernVersion, type DoorCaller } from './door-caller.ts';
import { logLevels, type DoorExchange } from './door-exchange.ts';
import { capabilities, createDoorMethods, paramsOf, serverInfo, type DoorMethods } from './door-methods.ts';
import { followTools } from './follow-tools.ts';
import { asDoorError, progressTokenOf, type LegacyDoorInput } from './legacy-door.ts';
import { ModernAnswer } from './modern-answer.ts';
import { metaKeys, readModernHead } from './modern-head.ts';
import { cacheHints } from './offer-methods.ts';
import { Rounds } from './rounds.ts';
import type { Visit } from './door-visit.ts';
import { DoorError, errorText, notificationText, resultText, rpcCodes, type RpcId } from './rpc.ts';

/** Logging is per request in this revision. */
const { logging: _logging, ...modernCapabilities } = capabilities;

/** [DOOR-2] The stateless revision, 2026-07-28: every request says everything about itself. */
export class ModernDoor {
  readonly #input: LegacyDoorInput;
  readonly #methods: DoorMethods;

  constructor(input: LegacyDoorInput) {
    this.#input = input;
    const rounds = new Rounds(input.parts.executor, input.seals);
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
    if (typeof id !== 'string' && typeof id !== 'number')
      throw new DoorError(rpcCodes.invalidRequest, 'id must be a text or a number', { status: 400 });
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
      if (method === 'subscriptions/listen') return this.#listen(caller, id, params, answer);
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

  /** [DOOR-5] A stream of the changes that the client asked for. */
  #listen(caller: DoorCaller, id: RpcId, { notifications }: JsonObject, answer: ModernAnswer): void {
    if (!isObject(notifications)) throw new DoorError(rpcCodes.invalidParams, 'params.notifications must say what to listen for');
    const about = { [metaKeys.subscription]: id };
    const honored: JsonObject = notifications['toolsListChanged'] === true ? { toolsListChanged: true } : {};
    answer.tell(notificationText('notifications/subscriptions/acknowledged', { notifications: honored, _meta: about }));
    const over = () =>
      answer.answer(resultText(id, JSON.stringify({ resultType: 'complete', _meta: { ...about, [metaKeys.server]: serverInfo } })));
    if (Object.keys(honored).length === 0) return over();
    const stop = followTools(
      this.#input.parts.inventory,
      () => this.#methods.toolsOf(caller).page(undefined, true),
      () => answer.tell(notificationText('notifications/tools/list_changed', { _meta: about })),
    );
    const closers: (() => void)[] = [stop];
    answer.onGone(() => closers.forEach((close) => close()));
    endWithToken(
      {
        closed: false,
        send: () => undefined,
        onClose: (listener) => closers.push(listener),
        close() {
          closers.forEach((close) => close());
          over();
        },
      },
      caller.principal,
      this.#input.closing,
    );
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
