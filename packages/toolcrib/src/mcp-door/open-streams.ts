import { DoorError, rpcCodes } from './rpc.ts';

/** Of one person, on one server. */
const mostOpen = 256;

/** [DOOR-5] Counts the streams that stay open, so that nobody takes all of them. */
export class OpenStreams {
  readonly #open = new Map<string, number>();

  /** Returns what to call when the stream is closed. Throws where this person has too many. */
  take(owner: string): () => void {
    const open = (this.#open.get(owner) ?? 0) + 1;
    if (open > mostOpen) {
      const message = `You have ${mostOpen} streams open: close some of them, or use one session for several purposes`;
      throw new DoorError(rpcCodes.badRequest, message, { status: 429 });
    }
    this.#open.set(owner, open);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.#open.get(owner) ?? 1) - 1;
      if (left === 0) this.#open.delete(owner);
      else this.#open.set(owner, left);
    };
  }
}
