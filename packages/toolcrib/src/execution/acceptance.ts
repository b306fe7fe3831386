import { CribError } from '../model/crib-error.ts';

/** Why nothing is taken on: the record cannot be written, changes made on other servers cannot be seen, the data folder is gone. */
type SuspensionCause = 'record' | 'in-flight' | 'changes' | 'data-folder';

/** Whether this server takes on calls and changes at all. Whoever begins something asks here first. */
export interface Acceptance {
  /** The reason is a sentence for operators and callers. */
  suspend(cause: SuspensionCause, reason: string): void;
  resume(cause: SuspensionCause): void;
  /**
   * All that other servers had changed by that moment, of `performance.now()`, is known here. From the first time on this has to be said
   * again within `staleAfterMs`: whoever does not know what was changed could let in somebody who has been shut out.
   */
  changesSeen(at: number): void;
  /** What every call and every change is refused with; undefined while they are accepted. */
  readonly refusal: CribError | undefined;
  /** Resolves once they are accepted: for what was begun before, and goes on. */
  accepted(): Promise<void>;
  /** Why, one sentence for each cause; none while all is well. */
  reasons(): string[];
}

const retryAfterMs = 1000;

/** [POL-5] For how long a server decides by rules that it cannot compare with those of the others. */
export const staleAfterMs = 5000;

export function createAcceptance({ warn, now = () => performance.now() }: { warn(message: string): void; now?(): number }): Acceptance {
  const causes = new Map<SuspensionCause, string>();
  // Kept, so that a call pays for reading one field.
  let refusal: CribError | undefined;
  let freshUntil = Number.POSITIVE_INFINITY;
  let waiting: PromiseWithResolvers<void> | undefined;

  function changed(): void {
    const reasons = [...causes.values()].join(' ');
    refusal =
      causes.size === 0
        ? undefined
        : new CribError('SERVICE_UNAVAILABLE', `${reasons} Try again shortly.`, { retryAfterMs, origin: 'gateway' });
    if (refusal !== undefined) return;
    waiting?.resolve();
    waiting = undefined;
  }

  function suspend(cause: SuspensionCause, reason: string): void {
    if (causes.get(cause) === reason) return;
    if (!causes.has(cause)) warn(`No calls or changes are accepted: ${reason}`);
    causes.set(cause, reason);
    changed();
  }

  function resume(cause: SuspensionCause): void {
    if (!causes.delete(cause)) return;
    changed();
    warn(causes.size === 0 ? 'Calls and changes are accepted again' : `Still no calls or changes: ${[...causes.values()].join(' ')}`);
  }

  /** Looked at when somebody asks: a timer that comes late would let in those who come before it. */
  function lookAtTheClock(): void {
    if (now() > freshUntil) suspend('changes', 'Changes made on other servers cannot be seen: the database does not answer.');
  }

  function current(): CribError | undefined {
    lookAtTheClock();
    return refusal;
  }

  return {
    suspend,
    resume,
    changesSeen(at) {
      freshUntil = at + staleAfterMs;
      if (now() <= freshUntil) resume('changes');
    },
    get refusal() {
      return current();
    },
    async accepted() {
      while (current() !== undefined) {
        waiting ??= Promise.withResolvers();
        await waiting.promise;
      }
    },
    reasons() {
      lookAtTheClock();
      return [...causes.values()];
    },
  };
}
