import type { IncomingMessage } from 'node:http';

/**
 * The body of a request, taken from Node's parser itself: a stream would cost more than everything that is done with a plain call, and what has
 * gone through one cannot be given back.
 */
export class TakenBody {
  readonly #request: IncomingMessage;
  readonly #chunks: Buffer[] = [];

  constructor(request: IncomingMessage, onWhole: () => void) {
    this.#request = request;
    request.push = (chunk: Buffer | null) => {
      if (chunk === null) onWhole();
      else this.#chunks.push(chunk);
      return true;
    };
  }

  get text(): string {
    const [first] = this.#chunks;
    return (this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks)).toString('utf8');
  }

  /** Whoever handles the request now reads it as if it had just come. */
  giveBackTo(handle: () => void): void {
    Reflect.deleteProperty(this.#request, 'push');
    handle();
    for (const chunk of this.#chunks) this.#request.push(chunk);
    this.#request.push(null);
  }
}
