/** Says that there is no more waiting, and why. Every `AbortSignal` is one. */
export interface EndSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * An `EndSignal` for what happens with every call. What hears an `AbortSignal` outlives the call it belongs to until the next full
 * collection of garbage, and under load that costs more than the call itself.
 */
export class EndSwitch implements EndSignal {
  aborted = false;
  reason: unknown;
  /** One hears it nearly always, seldom two. */
  #listeners: (() => void)[] = [];

  /** Only the first reason counts. */
  end(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.#listeners.indexOf(listener);
    if (index >= 0) this.#listeners.splice(index, 1);
  }
}
