import type { Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { CribError } from '../../../model/crib-error.ts';
import { ConnectionError } from '../../../model/named-errors.ts';
import { frame, type Framing } from './framing.ts';

export interface OutboxOptions {
  stream: Writable;
  /** Asked at the last moment, when the server may already have shown its own. */
  framing: () => Framing;
  maxWaitingBytes?: number;
}

const defaultMaxWaitingBytes = 16 * 1024 * 1024;

/** Collects what is sent within one turn of the event loop and writes it at once: a system call for many calls, not for each. */
export class Outbox {
  readonly #stream: Writable;
  readonly #framing: () => Framing;
  readonly #maxWaitingBytes: number;
  #collected: string[] = [];
  #collectedLength = 0;

  constructor({ stream, framing, maxWaitingBytes = defaultMaxWaitingBytes }: OutboxOptions) {
    this.#stream = stream;
    this.#framing = framing;
    this.#maxWaitingBytes = maxWaitingBytes;
  }

  post(message: JSONRPCMessage): void {
    if (!this.#stream.writable) throw new ConnectionError('The server takes no more input.');
    const waiting = this.#collectedLength + this.#stream.writableLength;
    if (waiting > this.#maxWaitingBytes) {
      throw new CribError(
        'SERVICE_UNAVAILABLE',
        `The server does not read its input; ${waiting} bytes are waiting for it already. Restart it if it does not recover.`,
      );
    }
    const json = JSON.stringify(message);
    if (this.#collected.length === 0) setImmediate(() => this.flush());
    this.#collected.push(json);
    this.#collectedLength += json.length;
  }

  flush(): void {
    if (this.#collected.length === 0) return;
    const framing = this.#framing();
    const text = this.#collected.map((json) => frame(json, framing)).join('');
    this.#collected = [];
    this.#collectedLength = 0;
    if (this.#stream.writable) this.#stream.write(text);
  }
}
