import type { RpcId } from './rpc.ts';

/** A request that its client may cancel. */
export interface Cancellable {
  readonly id: RpcId;
  /** Where it stands among those that run. */
  place: number;
  cancel(): void;
}

/**
 * The requests of a session that are being answered. A list, because a map that is filled and emptied with every call leaves its garbage where
 * it is costly to collect.
 */
export class RunningRequests {
  readonly #requests: Cancellable[] = [];

  get size(): number {
    return this.#requests.length;
  }

  add(request: Cancellable): void {
    request.place = this.#requests.push(request) - 1;
  }

  remove(request: Cancellable): void {
    const { place } = request;
    if (this.#requests[place] !== request) return;
    const last = this.#requests.pop();
    if (last === undefined || last === request) return;
    last.place = place;
    this.#requests[place] = last;
  }

  /** False where no such request runs here. */
  cancel(id: RpcId): boolean {
    const request = this.#requests.findLast((one) => one.id === id);
    request?.cancel();
    return request !== undefined;
  }

  cancelAll(): void {
    // Each that is cancelled is taken out.
    for (const request of this.#requests.slice()) request.cancel();
  }
}
