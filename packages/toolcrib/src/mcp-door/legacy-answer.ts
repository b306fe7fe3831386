import { deadlines, type Deadline } from '../execution/deadlines.ts';
import type { DoorReply } from './door-reply.ts';
import type { LiveSession } from './live-session.ts';
import type { SseWriter } from './sse-writer.ts';
import type { StreamLog } from './stream-log.ts';

/** A request that takes longer is answered on a stream, which keeps proxies and clients from giving up. */
const patienceMs = 1000;

interface LegacyAnswerInput {
  reply: DoorReply;
  /** Undefined where the client has opened none: nothing can be read again then. */
  session: LiveSession | undefined;
  /** How many answers there will be. */
  requests: number;
  isBatch: boolean;
  /** Whether the client takes streams. */
  streams: boolean;
}

/** The answer to what was posted: JSON where it is quick and nothing else is said, a stream otherwise. */
export class LegacyAnswer implements Deadline {
  endsAt = 0;
  deadlinePlace = -1;
  readonly #input: LegacyAnswerInput;
  readonly #texts: string[] = [];
  #writer: SseWriter | undefined;
  #log: StreamLog | undefined;
  #left: number;
  #gone: (() => void)[] = [];
  #isGone = false;

  constructor(input: LegacyAnswerInput) {
    this.#input = input;
    this.#left = input.requests;
  }

  /** Call it when all requests have been begun: what was answered at once needs none of this. */
  wait(): void {
    if (this.#left === 0) return;
    this.#input.reply.onClose(() => this.#closed());
    if (!this.#input.streams || this.#writer !== undefined) return;
    this.endsAt = performance.now() + patienceMs;
    deadlines.add(this);
  }

  expire(): void {
    deadlines.remove(this);
    this.#open();
  }

  get canTell(): boolean {
    return this.#input.streams && !this.#isGone;
  }

  /** A message that is no answer. */
  tell(json: string): void {
    if (!this.canTell) return;
    this.#open();
    this.#send(json);
  }

  answer(json: string): void {
    this.#left--;
    if (this.#writer !== undefined) this.#send(json);
    else this.#texts.push(json);
    if (this.#left === 0) this.#finish();
  }

  /** When the client is gone and will not come back for the answer. */
  onGone(listener: () => void): void {
    this.#gone.push(listener);
  }

  #open(): void {
    if (this.#writer !== undefined || this.#isGone) return;
    deadlines.remove(this);
    const { reply, session } = this.#input;
    this.#writer = reply.stream();
    this.#log = session?.openStream();
    this.#log?.attach(this.#writer, 0);
    for (const text of this.#texts.splice(0)) this.#send(text);
  }

  #send(json: string): void {
    if (this.#log === undefined) this.#writer?.message(json);
    else this.#log.add(json);
  }

  #finish(): void {
    deadlines.remove(this);
    const { reply, session, isBatch } = this.#input;
    if (this.#log !== undefined) session?.finishStream(this.#log);
    else if (this.#writer !== undefined) this.#writer.end();
    else if (!this.#isGone) {
      const body = isBatch ? `[${this.#texts.join(',')}]` : (this.#texts[0] ?? '');
      reply.send(200, body);
    }
  }

  #closed(): void {
    deadlines.remove(this);
    if (this.#left === 0) return;
    // With a stream that can be read again, a lost connection is no wish to cancel.
    if (this.#log !== undefined) return;
    this.#isGone = true;
    for (const listener of this.#gone) listener();
  }
}
