import { CribError } from '../model/crib-error.ts';

/** Why nothing is accepted: the record cannot be written or brought into the database, changes made on other servers cannot be seen, the data folder is gone. */
type SuspensionCause = 'record' | 'journal' | 'in-flight' | 'changes' | 'data-folder';

/** Whether this server accepts calls and changes at all. Asked before anything is begun. */
export interface Acceptance {
  /** The reason is a sentence for operators and callers. */
  suspend(cause: SuspensionCause, reason: string): void;
  resume(cause: SuspensionCause): void;
  /**
   * Everything that other servers had changed by that moment, of `performance.now()`, is known here. After the first time this has to be
   * called again within `staleAfterMs`: a server that misses changes could let in somebody who has been shut out.
   */
  changesSeen(at: number): void;
  /** Why every call and every change is refused at this moment; undefined while they are accepted. */
  refusal(): CribError | undefined;
  /** Resolves once they are accepted: for calls that were begun before, and go on. */
  accepted(): Promise<void>;
  /** Sentences, each once; none while calls are accepted. */
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

  /** What fills the disk stops several things at once, with the same words. */
  const distinct = () => [...new Set(causes.values())];

  function changed(): void {
    const reasons = distinct().join(' ');
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
    warn(causes.size === 0 ? 'Calls and changes are accepted again' : `Still no calls or changes: ${distinct().join(' ')}`);
  }

  /** The clock is read when somebody asks: a timer that comes late would let in those who come before it. */
  function current(): CribError | undefined {
    if (now() > freshUntil) suspend('changes', 'Changes made on other servers cannot be seen: the database does not answer.');
    return refusal;
  }

  return {
    suspend,
    resume,
    changesSeen(at) {
      freshUntil = at + staleAfterMs;
      if (now() <= freshUntil) resume('changes');
    },
    refusal: current,
    async accepted() {
      while (current() !== undefined) {
        waiting ??= Promise.withResolvers();
        await waiting.promise;
      }
    },
    reasons() {
      current();
      return distinct();
    },
  };
}
