import type { RunningCall } from './running-call.ts';

/**
 * The calls that wait for their source. A list, because calls come and go all the time and are hardly ever looked for: a `Map` used that
 * way keeps what it has let go of until the next full collection of garbage.
 */
export class RunningCalls {
  readonly #calls: RunningCall[] = [];

  add(call: RunningCall): void {
    call.place = this.#calls.push(call) - 1;
  }

  delete(call: RunningCall): void {
    if (this.#calls[call.place] !== call) return;
    const last = this.#calls.pop();
    if (last === undefined || last === call) return;
    last.place = call.place;
    this.#calls[call.place] = last;
  }

  find(callId: string): RunningCall | undefined {
    return this.#calls.find((call) => call.callId === callId);
  }

  /** As they are now, whatever becomes of them meanwhile. */
  all(): RunningCall[] {
    return [...this.#calls];
  }
}
