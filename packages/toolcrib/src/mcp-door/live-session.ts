import { randomUUID } from 'node:crypto';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { LogLevel } from './door-exchange.ts';
import type { RpcId } from './rpc.ts';
import type { SessionTerms } from './session-id.ts';
import { RunningRequests } from './running-requests.ts';
import { StreamLog } from './stream-log.ts';
import type { Subscriptions } from './subscriptions.ts';

/** How long a stream that has ended can be read again. */
const keptStreamMs = 120_000;
const mostStreams = 64;

interface Question {
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

interface LiveSessionInput {
  id: string;
  terms: SessionTerms;
  principal: Principal;
  /** Which server this is: its questions have names of their own. */
  server: string;
}

/** What this server holds of a session beside what its id says: open streams, questions to the client, requests that can be cancelled. */
export class LiveSession {
  readonly id: string;
  readonly terms: SessionTerms;
  /** With the newest token that was seen. */
  principal: Principal;
  /** On the clock of `performance`. */
  usedAt = performance.now();
  logLevel: LogLevel | undefined = 'info';
  isEnded = false;
  /** Set with the first one. */
  subscriptions: Subscriptions | undefined;
  readonly running = new RunningRequests();
  readonly #server: string;
  readonly #streams = new Map<string, StreamLog>();
  /** Streams on which the server speaks by itself, the newest last. */
  readonly #standing = new Set<StreamLog>();
  readonly #questions = new Map<RpcId, Question>();
  #asked = 0;

  constructor({ id, terms, principal, server }: LiveSessionInput) {
    this.id = id;
    this.terms = terms;
    this.principal = principal;
    this.#server = server;
  }

  get hasStanding(): boolean {
    return this.#standing.size > 0;
  }

  /** Whether anything would be lost if it were forgotten. */
  get isBusy(): boolean {
    return this.hasStanding || this.running.size > 0;
  }

  used(principal: Principal): void {
    this.usedAt = performance.now();
    if (principal.expiresAt >= this.principal.expiresAt) this.principal = principal;
  }

  openStream(): StreamLog {
    const stream = new StreamLog(randomUUID(), this.terms.version);
    this.#streams.set(stream.id, stream);
    for (const [id, known] of this.#streams) {
      if (this.#streams.size <= mostStreams) break;
      if (known.isOver) this.#streams.delete(id);
    }
    return stream;
  }

  /** It can be read again for a while. */
  finishStream(stream: StreamLog): void {
    stream.finish();
    setTimeout(() => this.#streams.delete(stream.id), keptStreamMs).unref();
  }

  dropStream(stream: StreamLog): void {
    stream.finish();
    this.#streams.delete(stream.id);
    this.#standing.delete(stream);
  }

  streamOf(id: string): StreamLog | undefined {
    return this.#streams.get(id);
  }

  /** A stream on which the server speaks by itself. */
  openStanding(): StreamLog {
    const stream = this.openStream();
    this.#standing.add(stream);
    return stream;
  }

  isStanding(stream: StreamLog): boolean {
    return this.#standing.has(stream);
  }

  /** Says something that answers no request, on one stream only. False where there is none. */
  speak(json: string): boolean {
    const streams = [...this.#standing];
    const stream = streams.findLast(({ isRead }) => isRead) ?? streams.at(-1);
    stream?.add(json);
    return stream !== undefined;
  }

  /** The message of a question to the client, and its answer. */
  question(method: string, params: JsonObject): { json: string; answer: Promise<JsonObject> } {
    const id = `${this.#server}-${++this.#asked}`;
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    this.#questions.set(id, { resolve, reject });
    return { json: JSON.stringify({ jsonrpc: '2.0', id, method, params }), answer: promise };
  }

  /** Takes what the client answered to a question. False where nobody here has asked it. */
  answered({ id, result, error }: JsonObject): boolean {
    const question = typeof id === 'string' ? this.#questions.get(id) : undefined;
    if (typeof id !== 'string' || question === undefined) return false;
    this.#questions.delete(id);
    if (isObject(result)) question.resolve(result);
    else question.reject(new Error(isObject(error) ? 'The client answered with an error' : 'The client answered with nothing'));
    return true;
  }

  /** The client has ended it. */
  end(): void {
    this.isEnded = true;
    this.running.cancelAll();
    for (const { reject } of this.#questions.values()) reject(new Error('The session has ended'));
    this.#questions.clear();
    this.forget();
    for (const stream of this.#streams.values()) this.dropStream(stream);
  }

  /** It makes room for others. Requests that are being answered go on; its client opens another stream for the rest. */
  forget(): void {
    this.subscriptions?.end();
    this.subscriptions = undefined;
    for (const stream of this.#standing) this.dropStream(stream);
  }
}
