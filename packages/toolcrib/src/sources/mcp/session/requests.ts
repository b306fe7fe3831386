import { LOG_LEVEL_META_KEY, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/client';
import type { CribError } from '../../../model/crib-error.ts';
import { EndSwitch } from '../../../model/end-signal.ts';
import type { JsonObject } from '../../../model/json.ts';
import { ConnectionError, ProtocolError } from '../../../model/named-errors.ts';
import { isStandIn } from '../transports/json-rpc.ts';
import type { Exchange } from './exchange.ts';
import { explainFailure } from './explain-failure.ts';
import { InFlight } from './in-flight.ts';
import type { McpTransport } from './mcp-transport.ts';
import { RpcError } from './session-errors.ts';

interface Pending {
  exchange: Exchange;
  resolve(result: JsonObject): void;
  reject(error: CribError): void;
}

/** The SDK counts its own requests from 0 on the same connection; a thousand million of them are not reached. */
const firstId = 1_000_000_000;

/**
 * Our own requests on the SDK's connection, matched by id, any number in flight. They pass by the SDK's validation and dispatch, which
 * cost more than everything else of a call together; what comes back is checked by whoever asked for it.
 */
export class Requests {
  /** What every request of the stateless revision says of us in `_meta`, because no handshake has; set once that is agreed on. */
  envelope: JsonObject | undefined;
  readonly #transport: McpTransport;
  readonly #pending = new InFlight<Pending>(firstId);
  #abandonedAt = -Infinity;

  constructor(transport: McpTransport) {
    this.#transport = transport;
  }

  /** Resolves with the raw `result` object; rejects with `RpcError` for an error answer and `CribError` for no answer. */
  send(method: string, params: JsonObject, exchange: Exchange, headers?: Record<string, string>): Promise<JsonObject> {
    exchange.check();
    const stream = this.#transport.hasPerRequestStream === true ? new EndSwitch() : undefined;
    return new Promise((resolve, reject) => {
      const id = this.#pending.add({ exchange, resolve, reject });
      const message = { jsonrpc: '2.0' as const, id, method, params: this.#withMeta(params, id, exchange) };
      const fail = (error: CribError) => this.#pending.take(id)?.reject(error);
      exchange.onEnd = (reason) => {
        if (this.#pending.take(id) === undefined) return;
        reject(reason);
        this.#abandonedAt = performance.now();
        this.#cancel(id, reason, stream);
      };
      const options = stream && {
        requestSignal: stream,
        headers,
        onRequestStreamEnd: () => fail(new ConnectionError('The server ended the answer before it was complete')),
      };
      if (this.#transport.post === undefined) {
        this.#transport.send(message as JSONRPCMessage, options).catch((error: unknown) => fail(explainFailure(error)));
        return;
      }
      try {
        this.#transport.post(message);
      } catch (error) {
        fail(explainFailure(error));
      }
    });
  }

  /** Takes an answer to one of ours; true also for one that nobody waits for any more. */
  takeAnswer(message: { id?: unknown; result?: unknown; error?: unknown }): boolean {
    const id = numeric(message.id);
    if (!this.#isOurs(id)) return false;
    const pending = this.#pending.take(id);
    if (pending === undefined) return true;
    const { result, error } = message;
    if (isObject(result)) pending.resolve(result);
    else if (isObject(error)) pending.reject(isStandIn(message) ? new ProtocolError(rpcError(error).message) : rpcError(error));
    else pending.reject(new ProtocolError('The server answered with an invalid message: neither a result nor an error'));
    return true;
  }

  /** Takes progress of one of ours, in the order it came. */
  takeProgress(params: unknown): boolean {
    if (!isObject(params)) return false;
    const token = numeric(params['progressToken']);
    if (!this.#isOurs(token)) return false;
    const { progress, total, message } = params;
    if (typeof progress !== 'number') return true;
    this.#pending.get(token)?.exchange.progress({
      progress,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message }),
    });
    return true;
  }

  /**
   * The call a message belongs to: the one on whose stream it came. Where all share one stream it is the only call there is, unless
   * another was given up a short while ago and the server may still be busy with it: nobody is asked somebody else's question.
   */
  callOf(relatedTo: RequestId | undefined): Exchange | undefined {
    const related = this.#pending.get(relatedTo)?.exchange;
    if (relatedTo !== undefined) return related?.isCall === true ? related : undefined;
    if (performance.now() - this.#abandonedAt < 300_000) return undefined;
    let only: Exchange | undefined;
    for (const { exchange } of this.#pending.values()) {
      if (!exchange.isCall) continue;
      if (only !== undefined) return undefined;
      only = exchange;
    }
    return only;
  }

  /** When the call began that has waited longest for an answer; `Infinity` where none waits. */
  get oldestCall(): number {
    return Math.min(...this.#pending.values().map(({ exchange }) => (exchange.isCall ? exchange.startedAt : Infinity)));
  }

  /** No answer will come any more. */
  failAll(reason: CribError): void {
    for (const { reject } of this.#pending.takeAll()) reject(reason);
  }

  #isOurs(id: unknown): boolean {
    return typeof id === 'number' && id >= firstId;
  }

  #withMeta(params: JsonObject, id: number, { isCall, wantsLog, trace }: Exchange): JsonObject {
    if (this.envelope === undefined) return isCall ? { ...params, _meta: { progressToken: id, ...trace } } : params;
    const _meta = { ...this.envelope, ...(isCall && { progressToken: id }), ...(wantsLog && { [LOG_LEVEL_META_KEY]: 'info' }), ...trace };
    return { ...params, _meta };
  }

  /** The stateless revision takes a closed stream for the wish to cancel; everywhere else it has to be said. */
  #cancel(id: number, reason: CribError, stream: EndSwitch | undefined): void {
    if (this.envelope === undefined || stream === undefined) {
      const params = { requestId: id, reason: reason.message, ...(this.envelope && { _meta: this.envelope }) };
      const message = { jsonrpc: '2.0' as const, method: 'notifications/cancelled', params };
      // A server that is not there any more does not have to be told.
      this.#transport.send(message as JSONRPCMessage).catch(() => undefined);
    }
    stream?.end(reason);
  }
}

/** Some servers give a number back as text. */
function numeric(id: unknown): unknown {
  return typeof id === 'string' ? Number(id) : id;
}

function rpcError({ code, message, data }: JsonObject): RpcError {
  const text = typeof message === 'string' && message !== '' ? message : 'The server answered with an error that says nothing';
  return new RpcError(typeof code === 'number' ? code : 0, text, data);
}

export function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
