import type { SseWriter } from './sse-writer.ts';

/** Bounds what is kept for a client that may come back. */
const mostBytes = 4 * 1024 * 1024;
const retryMs = 1000;

/** [DOOR-5] What was sent on one stream of a session, for a client that lost its connection and asks for the rest. */
export class StreamLog {
  readonly id: string;
  readonly #events: string[] = [];
  #bytes = 0;
  #sent = 0;
  #isOver = false;
  #writer: SseWriter | undefined;
  readonly #isPrimed: boolean;

  /** `version` is the revision of the session. Clients of those before 2025-11-25 take an event without data for a broken message. */
  constructor(id: string, version: string) {
    this.id = id;
    this.#isPrimed = version >= '2025-11-25';
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether somebody is connected to it. */
  get isRead(): boolean {
    return this.#writer !== undefined;
  }

  /** Sends to this writer from now on, after everything that came after the event `seen`. */
  attach(writer: SseWriter, seen: number): void {
    this.#writer?.end();
    this.#writer = writer;
    writer.onClose(() => {
      if (this.#writer === writer) this.#writer = undefined;
    });
    if (seen === 0 && this.#isPrimed) writer.prime(`${this.id}.0`, retryMs);
    const first = this.#sent - this.#events.length;
    for (const [index, event] of this.#events.entries()) {
      if (first + index >= seen) writer.message(event, `${this.id}.${first + index + 1}`);
    }
    if (this.#isOver) writer.end();
  }

  add(json: string): void {
    this.#sent++;
    this.#events.push(json);
    this.#bytes += json.length;
    // A client that comes back after more than that has missed the oldest.
    while (this.#bytes > mostBytes && this.#events.length > 1) this.#bytes -= this.#events.shift()?.length ?? 0;
    this.#writer?.message(json, `${this.id}.${this.#sent}`);
  }

  /** Nothing follows. */
  finish(): void {
    this.#isOver = true;
    this.#writer?.end();
  }
}

/** The stream, and the number of the event on it that a client has seen last. */
export function parseEventId(id: string): { stream: string; seen: number } | undefined {
  const [, stream, seen] = /^([\w-]{1,64})\.(\d{1,9})$/.exec(id) ?? [];
  return stream === undefined ? undefined : { stream, seen: Number(seen) };
}
