/** Says that there is no more waiting, and why. Every `AbortSignal` is one. */
export interface EndSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Of one call. */
export interface CallSignal extends EndSignal {
  /** For APIs that accept nothing else; made on first use. */
  toAbortSignal(): AbortSignal;
}

/**
 * The `EndSignal` of one call, without the price of an `AbortSignal`: listeners of those outlive the call until the next full garbage
 * collection, and under load that costs more than the call itself.
 */
export class EndSwitch implements CallSignal {
  aborted = false;
  reason: unknown;
  /** There is almost always one listener. */
  #listeners: (() => void)[] = [];
  #controller: AbortController | undefined;

  /** Only the first reason counts. */
  end(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
    this.#controller?.abort(reason);
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  toAbortSignal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.aborted) this.#controller.abort(this.reason);
    return this.#controller.signal;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.#listeners.indexOf(listener);
    if (index >= 0) this.#listeners.splice(index, 1);
  }
}
