import type { Dispatcher } from 'undici';
import { ProtocolError } from '../model/named-errors.ts';

/** How much is buffered for a reader before the sender has to wait. */
const mostWaitingBytes = 65_536;
/** Up to here, reading the rest is cheaper than a new connection. */
const mostDumpedBytes = 131_072;

/** Why not all of a stream was read: it did not end in time, was too large, or its connection broke. */
export type StreamCut = 'time' | 'size' | 'connection';

/**
 * The body of an answer while it comes in. Lighter than a stream, because most answers are complete by the time they are read. It must be read
 * to its end or given up: until then it holds a connection.
 */
export class HttpBody implements AsyncIterable<Buffer> {
  readonly #controller: Dispatcher.DispatchController;
  #chunks: Buffer[] = [];
  #waitingBytes = 0;
  #limit = mostWaitingBytes;
  #over = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(controller: Dispatcher.DispatchController) {
    this.#controller = controller;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > this.#limit) this.#controller.pause();
    this.#wake?.();
  }

  /** The end of the body: it is complete, or the error says why not. */
  end(error?: Error): void {
    this.#over = true;
    this.#error = error;
    this.#wake?.();
  }

  /** The whole body, or an error at the first byte too many. */
  bytes(maxBytes: number): Promise<Buffer> {
    return new Promise((resolve, reject) => this.whenWhole(maxBytes, { whole: resolve, failed: reject }));
  }

  /** The same without a promise. One of the two is called, once, perhaps at once. */
  whenWhole(maxBytes: number, { whole, failed }: { whole(bytes: Buffer): void; failed(error: unknown): void }): void {
    // The check below needs one byte more than allowed; after that the sender waits.
    this.#limit = maxBytes;
    if (this.#controller.paused) this.#controller.resume();
    this.#wake = () => {
      if (!this.#over && this.#waitingBytes <= maxBytes) return;
      this.#wake = undefined;
      const isLarge = this.#waitingBytes > maxBytes;
      if (isLarge) this.destroy();
      if (isLarge || this.#error !== undefined) failed(isLarge ? tooLarge(maxBytes) : this.#error);
      else whole(this.#whole());
    };
    this.#wake();
  }

  /** Passes on every piece as it comes, and then the end: with an error where the body is not complete. */
  forEach(onChunk: (chunk: Buffer) => void, onEnd: (error: Error | undefined) => void): void {
    this.#wake = () => {
      for (const chunk of this.#take()) {
        onChunk(chunk);
        // The reader has given up the rest, and the end has been passed on.
        if (this.#wake === undefined) return;
      }
      if (!this.#over) return;
      this.#wake = undefined;
      onEnd(this.#error);
    };
    this.#wake();
  }

  /** As much as arrives until then; the rest is given up. A body that breaks off before anything has arrived is an error. */
  async beginning(maxBytes: number, ms: number): Promise<{ bytes: Buffer; cut: StreamCut | undefined }> {
    const waiting = { isOver: false };
    const timer = setTimeout(() => {
      waiting.isOver = true;
      this.#wake?.();
    }, ms);
    this.#limit = maxBytes;
    if (this.#controller.paused) this.#controller.resume();
    try {
      while (!this.#over && !waiting.isOver && this.#waitingBytes <= maxBytes) await this.#more();
    } finally {
      clearTimeout(timer);
    }
    if (this.#waitingBytes === 0 && this.#error !== undefined) throw this.#error;
    const isLarge = this.#waitingBytes > maxBytes;
    const cut = isLarge ? 'size' : this.#error !== undefined ? 'connection' : this.#over ? undefined : 'time';
    const bytes = this.#whole().subarray(0, maxBytes);
    this.destroy();
    return { bytes, cut };
  }

  #whole(): Buffer {
    const [only] = this.#chunks;
    return this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks);
  }

  /** Reads and discards the body, so that the connection can be used again; a body without an end is given up. */
  async dump(): Promise<void> {
    let size = 0;
    for await (const chunk of this.#read()) {
      size += chunk.length;
      if (size > mostDumpedBytes) return this.destroy();
    }
  }

  /** Gives up the body and its connection. */
  destroy(): void {
    if (!this.#over) this.#controller.abort(new Error('The answer was given up'));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield* this.#read();
      if (this.#error !== undefined) throw this.#error;
    } finally {
      this.destroy();
    }
  }

  async *#read(): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      yield* this.#take();
      if (this.#chunks.length > 0) continue;
      if (this.#over) return;
      await this.#more();
    }
  }

  #take(): Buffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#waitingBytes = 0;
    if (this.#controller.paused) this.#controller.resume();
    return chunks;
  }

  #more(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}

export function tooLarge(maxBytes: number): ProtocolError {
  return new ProtocolError(`The answer is larger than the ${maxBytes} bytes allowed for one message`);
}
