import type { DoorReply } from './door-reply.ts';
import type { SseWriter } from './sse-writer.ts';

/** A request that takes longer is answered on a stream, which keeps proxies and clients from giving up. */
const patienceMs = 1000;

/** The answer to one request: JSON where it is quick and nothing else is said, a stream otherwise. Closing it cancels the request. */
export class ModernAnswer {
  readonly #reply: DoorReply;
  readonly #streams: boolean;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #gone: (() => void)[] = [];
  #writer: SseWriter | undefined;
  #isOver = false;

  constructor(reply: DoorReply, streams: boolean) {
    this.#reply = reply;
    this.#streams = streams;
    if (streams) this.#timer = setTimeout(() => this.open(), patienceMs);
    reply.onClose(() => {
      clearTimeout(this.#timer);
      if (this.#isOver) return;
      this.#isOver = true;
      for (const listener of this.#gone) listener();
    });
  }

  open(): void {
    if (this.#isOver || this.#writer !== undefined) return;
    clearTimeout(this.#timer);
    this.#writer = this.#reply.stream();
  }

  tell(json: string): void {
    if (this.#isOver || !this.#streams) return;
    this.open();
    this.#writer?.message(json);
  }

  answer(json: string, status = 200): void {
    clearTimeout(this.#timer);
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#writer === undefined) {
      this.#reply.send(status, json);
      return;
    }
    this.#writer.message(json);
    this.#writer.end();
  }

  onGone(listener: () => void): void {
    this.#gone.push(listener);
  }
}
