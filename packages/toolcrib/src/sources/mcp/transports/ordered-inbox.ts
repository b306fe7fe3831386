import type { Readable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';

export interface OrderedInboxOptions {
  /** The source of the messages; paused when more come than can be delivered. */
  stream: Readable;
  deliver: (message: JSONRPCMessage) => void;
}

const mostWaiting = 1000;

/**
 * [MCP-9] Delivers messages to the SDK's client, which handles notifications a moment later than answers: an answer in the same piece as the
 * last progress would overtake it, and the progress would be dropped. So an answer after a notification waits for the next turn of the event
 * loop, and everything after it waits too.
 */
export class OrderedInbox {
  readonly #stream: Readable;
  readonly #deliver: (message: JSONRPCMessage) => void;
  #waiting: JSONRPCMessage[] = [];
  #notified = false;
  #onEmpty: (() => void) | null = null;

  constructor({ stream, deliver }: OrderedInboxOptions) {
    this.#stream = stream;
    this.#deliver = deliver;
  }

  put(message: JSONRPCMessage): void {
    this.#waiting.push(message);
    this.#hand();
    if (this.#waiting.length > mostWaiting) this.#stream.pause();
  }

  /** Calls back once; immediately where nothing waits. */
  whenEmpty(callback: () => void): void {
    if (this.#waiting.length === 0 && !this.#notified) callback();
    else this.#onEmpty ??= callback;
  }

  discard(): void {
    this.#waiting = [];
  }

  #hand(): void {
    let handed = 0;
    for (const message of this.#waiting) {
      if (this.#notified && isAnswer(message)) break;
      handed += 1;
      if (isNotification(message)) this.#noteNotification();
      this.#deliver(message);
    }
    this.#waiting.splice(0, handed);
  }

  #noteNotification(): void {
    if (this.#notified) return;
    this.#notified = true;
    setImmediate(() => {
      this.#notified = false;
      this.#hand();
      if (this.#waiting.length > 0 || this.#notified) return;
      this.#stream.resume();
      this.#onEmpty?.();
      this.#onEmpty = null;
    });
  }
}

function isAnswer(message: JSONRPCMessage): boolean {
  return !('method' in message);
}

function isNotification(message: JSONRPCMessage): boolean {
  return 'method' in message && !('id' in message);
}
