import { deadlines, type Deadline } from '../execution/deadlines.ts';
import type { DoorReply } from './door-reply.ts';
import type { SseWriter } from './sse-writer.ts';

/** A request that takes longer is answered on a stream, which keeps proxies and clients from giving up. */
const patienceMs = 1000;

/** The answer to one request: JSON where it is quick and nothing else is said, a stream otherwise. Closing it cancels the request. */
export class ModernAnswer implements Deadline {
  endsAt = 0;
  deadlinePlace = -1;
  readonly #reply: DoorReply;
  readonly #streams: boolean;
  readonly #gone: (() => void)[] = [];
  #writer: SseWriter | undefined;
  #isOver = false;

  constructor(reply: DoorReply, streams: boolean) {
    this.#reply = reply;
    this.#streams = streams;
  }

  /** Call it when the request has been begun: what was answered at once needs none of this. */
  wait(): void {
    if (this.#isOver) return;
    this.#reply.onClose(() => {
      deadlines.remove(this);
      if (this.#isOver) return;
      this.#isOver = true;
      for (const listener of this.#gone) listener();
    });
    if (!this.#streams || this.#writer !== undefined) return;
    this.endsAt = performance.now() + patienceMs;
    deadlines.add(this);
  }

  expire(): void {
    deadlines.remove(this);
    this.open();
  }

  open(): void {
    if (this.#isOver || this.#writer !== undefined) return;
    deadlines.remove(this);
    this.#writer = this.#reply.stream();
  }

  tell(json: string): void {
    if (this.#isOver || !this.#streams) return;
    this.open();
    this.#writer?.message(json);
  }

  answer(json: string, status = 200): void {
    deadlines.remove(this);
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
