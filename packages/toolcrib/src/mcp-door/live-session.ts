import { randomUUID } from 'node:crypto';
import { isObject, type JsonObject } from '../model/json.ts';
import type { LogLevel } from './door-exchange.ts';
import type { RpcId } from './rpc.ts';
import { StreamLog } from './stream-log.ts';

/** How long a stream that has ended can be read again. */
const keptStreamMs = 120_000;
const mostStreams = 64;

interface Question {
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

/** What this server holds of a session beside what its id says: open streams, questions to the client, requests that can be cancelled. */
export class LiveSession {
  logLevel: LogLevel | undefined = 'info';
  isEnded = false;
  readonly #streams = new Map<string, StreamLog>();
  readonly #questions = new Map<RpcId, Question>();
  readonly #running = new Map<RpcId, () => void>();
  #asked = 0;

  openStream(): StreamLog {
    const stream = new StreamLog(randomUUID());
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
    this.#streams.delete(stream.id);
  }

  streamOf(id: string): StreamLog | undefined {
    return this.#streams.get(id);
  }

  /** The message of a question to the client, and its answer. */
  question(method: string, params: JsonObject): { json: string; answer: Promise<JsonObject> } {
    const id = `toolcrib-${++this.#asked}`;
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    this.#questions.set(id, { resolve, reject });
    return { json: JSON.stringify({ jsonrpc: '2.0', id, method, params }), answer: promise };
  }

  /** Takes what the client answered to a question; ignores what nobody asked for. */
  answered({ id, result, error }: JsonObject): void {
    if (typeof id !== 'string') return;
    const question = this.#questions.get(id);
    this.#questions.delete(id);
    if (isObject(result)) question?.resolve(result);
    else question?.reject(new Error(isObject(error) ? 'The client answered with an error' : 'The client answered with nothing'));
  }

  /** Until the returned function is called, the request can be cancelled. */
  running(id: RpcId, cancel: () => void): () => void {
    this.#running.set(id, cancel);
    return () => this.#running.delete(id);
  }

  cancel(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#running.get(id)?.();
  }

  end(): void {
    this.isEnded = true;
    for (const cancel of this.#running.values()) cancel();
    for (const { reject } of this.#questions.values()) reject(new Error('The session has ended'));
    for (const stream of this.#streams.values()) stream.finish();
    this.#streams.clear();
  }
}
