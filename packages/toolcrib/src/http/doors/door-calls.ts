import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendPlainAnswer } from '../send-plain-answer.ts';
import { TakenBody } from '../taken-body.ts';
import { failedBefore, type Answers, type Calls } from './door-message.ts';
import type { PassOn } from './pass-on.ts';

interface Waiting {
  request: IncomingMessage;
  response: ServerResponse;
  body: TakenBody;
}

/** The plain calls of one thread: asks the main thread for their answers, many at once, and sends these. */
export class DoorCalls {
  readonly #waiting = new Map<number, Waiting>();
  readonly #passOn: PassOn;
  readonly #post: (calls: Calls) => void;
  #collected: Calls = [];
  #last = 0;

  constructor(passOn: PassOn, post: (calls: Calls) => void) {
    this.#passOn = passOn;
    this.#post = post;
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    const call: Waiting = { request, response, body: new TakenBody(request, () => this.#ask(call)) };
  }

  hear(answers: Answers): void {
    for (let index = 0; index < answers.length; index += 2) {
      const id = answers[index] as number;
      const answer = answers[index + 1];
      const call = this.#waiting.get(id);
      // The caller is gone, and the main thread knows.
      if (call === undefined) continue;
      this.#waiting.delete(id);
      if (typeof answer === 'string') sendPlainAnswer(call.request, call.response, answer);
      else this.#handOver(call, answer === failedBefore ? id : 0);
    }
  }

  #ask(call: Waiting): void {
    const { request, response, body } = call;
    const id = ++this.#last;
    this.#waiting.set(id, call);
    response.once('close', () => {
      if (this.#waiting.delete(id)) this.#send(id, 0, 0);
    });
    this.#send(id, request.headers.authorization ?? '', body.text);
  }

  /** The framework reads the request as if it had just come. */
  #handOver({ request, response, body }: Waiting, failed: number): void {
    // Whatever becomes of the request, the failure is not kept for ever.
    if (failed !== 0) response.once('close', () => this.#send(failed, 0, 0));
    body.giveBackTo(() => this.#passOn(request, response, failed));
  }

  /** One message for each turn of the event loop: a message costs more than what is in it. */
  #send(id: number, authorization: string | 0, body: string | 0): void {
    if (this.#collected.push(id, authorization, body) > 3) return;
    setImmediate(() => {
      const collected = this.#collected;
      this.#collected = [];
      this.#post(collected);
    });
  }
}
