import { CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/client';
import type { CribError } from '../../../model/crib-error.ts';
import { EndSwitch } from '../../../model/end-signal.ts';
import { isObject, type JsonObject } from '../../../model/json.ts';
import { ConnectionError, ProtocolError } from '../../../model/named-errors.ts';
import type { Exchange } from './exchange.ts';
import { explainFailure } from './explain-failure.ts';
import { isStandIn, type McpPostOptions } from './mcp-transport.ts';
import { RpcError } from './session-errors.ts';

/** Takes the answer to one request. Exactly one of the two is called, once. */
export interface RequestWaiter {
  /** With the raw `result` object, and the text of the whole message where its transport has it. */
  resolve(result: JsonObject, json?: string): void;
  /** With `RpcError` for an error answer and `CribError` for no answer. */
  reject(error: CribError): void;
}

interface Pending {
  exchange: Exchange;
  waiter: RequestWaiter;
}

/** Where requests are sent. */
interface Outgoing {
  /** Whether each request has a stream of its own, which ends it. */
  readonly hasPerRequestStream: boolean;
  send(message: JSONRPCMessage): Promise<void>;
  /** Throws, or calls `failed` once, where the message was not accepted. */
  post(message: JSONRPCMessage, options: McpPostOptions | undefined, failed: (error: unknown) => void): void;
}

/** The SDK numbers its own requests from 0 on the same connection, and never gets to a thousand million. */
const firstId = 1_000_000_000;

/**
 * Our own requests on the SDK's connection, matched by id, any number in flight. They bypass the SDK's validation and dispatch, which cost
 * more than the rest of a call together; each caller checks its result.
 */
export class Requests {
  /** Describes us in the `_meta` of every request of the stateless revision, which has no handshake; set once it is agreed on. */
  envelope: JsonObject | undefined;
  readonly #connection: Outgoing;
  readonly #pending = new InFlight<Pending>(firstId);
  #abandonedAt = -Infinity;

  constructor(connection: Outgoing) {
    this.#connection = connection;
  }

  /** The same with a promise of the result. */
  send(method: string, params: JsonObject, exchange: Exchange, headers?: Record<string, string>): Promise<JsonObject> {
    return new Promise((resolve, reject) => this.start(method, params, exchange, { resolve, reject }, headers));
  }

  start(method: string, params: JsonObject, exchange: Exchange, waiter: RequestWaiter, headers?: Record<string, string>): void {
    exchange.check();
    const stream = this.#connection.hasPerRequestStream ? new EndSwitch() : undefined;
    const id = this.#pending.add({ exchange, waiter });
    const message = { jsonrpc: '2.0' as const, id, method, params: this.#withMeta(params, id, exchange) };
    const fail = (error: unknown) => this.#pending.take(id)?.waiter.reject(explainFailure(error));
    exchange.onEnd = (reason) => {
      if (this.#pending.take(id) === undefined) return;
      waiter.reject(reason);
      this.#abandonedAt = performance.now();
      this.#cancel(id, reason, stream);
    };
    const options = stream && {
      requestSignal: stream,
      headers,
      onRequestStreamEnd: () => fail(new ConnectionError('The server ended the answer before it was complete')),
    };
    try {
      this.#connection.post(message, options, fail);
    } catch (error) {
      fail(error);
    }
  }

  /** Takes an answer to a request of ours; true also where nobody waits for it any more. */
  takeAnswer(message: { id?: unknown; result?: unknown; error?: unknown }, json?: string): boolean {
    const id = numeric(message.id);
    if (!this.#isOurs(id)) return false;
    const pending = this.#pending.take(id);
    if (pending === undefined) return true;
    const { result, error } = message;
    const { waiter } = pending;
    if (isObject(result)) waiter.resolve(result, json);
    else if (isObject(error)) waiter.reject(isStandIn(message) ? new ProtocolError(rpcError(error).message) : rpcError(error));
    else waiter.reject(new ProtocolError('The server answered with an invalid message: neither a result nor an error'));
    return true;
  }

  /** Takes progress of a request of ours, in order. */
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
   * The call that a message belongs to: the one on whose stream it came. Where all share one stream it is the only call there is, unless
   * another was given up recently and the server may still be busy with it: nobody may get somebody else's question.
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

  /** When the oldest unanswered call began; `Infinity` where none waits. */
  get oldestCall(): number {
    return Math.min(...this.#pending.values().map(({ exchange }) => (exchange.isCall ? exchange.startedAt : Infinity)));
  }

  /** For the end of the connection: no answer will come any more. */
  failAll(reason: CribError): void {
    for (const { waiter } of this.#pending.takeAll()) waiter.reject(reason);
  }

  #isOurs(id: unknown): boolean {
    return typeof id === 'number' && id >= firstId;
  }

  #withMeta(params: JsonObject, id: number, { isCall, wantsLog, trace, clientCapabilities }: Exchange): JsonObject {
    if (this.envelope === undefined) return isCall ? { ...params, _meta: { progressToken: id, ...trace } } : params;
    const offered = clientCapabilities && { [CLIENT_CAPABILITIES_META_KEY]: clientCapabilities };
    const _meta = {
      ...this.envelope,
      ...offered,
      ...(isCall && { progressToken: id }),
      ...(wantsLog && { [LOG_LEVEL_META_KEY]: 'info' }),
      ...trace,
    };
    return { ...params, _meta };
  }

  /** In the stateless revision closing the stream cancels a request; otherwise a notification does. */
  #cancel(id: number, reason: CribError, stream: EndSwitch | undefined): void {
    if (this.envelope === undefined || stream === undefined) {
      const params = { requestId: id, reason: reason.message, ...(this.envelope && { _meta: this.envelope }) };
      const message = { jsonrpc: '2.0' as const, method: 'notifications/cancelled', params };
      // A server that is gone need not be told.
      this.#connection.send(message as JSONRPCMessage).catch(() => undefined);
    }
    stream?.end(reason);
  }
}

/** Some servers return a number as text. */
function numeric(id: unknown): unknown {
  return typeof id === 'string' ? Number(id) : id;
}

function rpcError({ code, message, data }: JsonObject): RpcError {
  const text = typeof message === 'string' && message !== '' ? message : 'The server answered with an error without a message';
  return new RpcError(typeof code === 'number' ? code : 0, text, data);
}

const firstSize = 64;

/**
 * Values that wait for an answer, by their number. A `Map` that is filled and emptied all the time keeps its outgrown tables and their
 * contents until the next full garbage collection, so that every call would be copied into the old generation. Here nothing is left of an
 * entry that was taken.
 */
export class InFlight<Value> {
  #ids: number[] = Array.from({ length: firstSize }, () => 0);
  #values: (Value | undefined)[] = Array.from({ length: firstSize }, () => undefined);
  #count = 0;
  #lastId: number;

  constructor(lastId: number) {
    this.#lastId = lastId;
  }

  /** Returns its number, which is larger than all before. */
  add(value: Value): number {
    if (this.#count * 2 >= this.#values.length) this.#grow();
    // A place that a slow call still occupies is skipped together with its number.
    do this.#lastId++;
    while (this.#values[this.#placeOf(this.#lastId)] !== undefined);
    this.#put(this.#lastId, value);
    this.#count++;
    return this.#lastId;
  }

  get(id: unknown): Value | undefined {
    if (typeof id !== 'number') return undefined;
    const place = this.#placeOf(id);
    return this.#ids[place] === id ? this.#values[place] : undefined;
  }

  /** Removes and returns it; undefined where it is gone already. */
  take(id: unknown): Value | undefined {
    const value = this.get(id);
    if (value !== undefined) {
      this.#values[this.#placeOf(id as number)] = undefined;
      this.#count--;
    }
    return value;
  }

  values(): Value[] {
    return this.#values.filter((value) => value !== undefined);
  }

  takeAll(): Value[] {
    const all = this.values();
    this.#values.fill(undefined);
    this.#count = 0;
    return all;
  }

  #placeOf(id: number): number {
    // The number of places is a power of two.
    return id & (this.#values.length - 1);
  }

  #put(id: number, value: Value): void {
    const place = this.#placeOf(id);
    this.#ids[place] = id;
    this.#values[place] = value;
  }

  /** Numbers with different places keep different places among twice as many. */
  #grow(): void {
    const [ids, values] = [this.#ids, this.#values];
    this.#ids = Array.from({ length: ids.length * 2 }, () => 0);
    this.#values = Array.from({ length: values.length * 2 }, () => undefined);
    for (const [place, value] of values.entries()) if (value !== undefined) this.#put(ids[place] ?? 0, value);
  }
}
