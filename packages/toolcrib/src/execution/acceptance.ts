import { CribError } from '../model/crib-error.ts';

/** Why nothing is taken on: the record cannot be written, changes made on other servers cannot be seen, the data folder is gone. */
type SuspensionCause = 'record' | 'changes' | 'data-folder';

/** Whether this server takes on calls and changes at all. Whoever begins something asks here first. */
export interface Acceptance {
  /** The reason is a sentence for operators and callers. */
  suspend(cause: SuspensionCause, reason: string): void;
  resume(cause: SuspensionCause): void;
  /** What every call and every change is refused with; undefined while they are accepted. */
  readonly refusal: CribError | undefined;
  /** Why, one sentence for each cause; none while all is well. */
  reasons(): string[];
}

const retryAfterMs = 1000;

export function createAcceptance({ warn }: { warn(message: string): void }): Acceptance {
  const causes = new Map<SuspensionCause, string>();
  // Kept, so that a call pays for reading one field.
  let refusal: CribError | undefined;

  function changed(): void {
    const reasons = [...causes.values()].join(' ');
    refusal = causes.size === 0 ? undefined : new CribError('SERVICE_UNAVAILABLE', `${reasons} Try again shortly.`, { retryAfterMs });
  }

  return {
    suspend(cause, reason) {
      if (causes.get(cause) === reason) return;
      if (!causes.has(cause)) warn(`No calls or changes are accepted: ${reason}`);
      causes.set(cause, reason);
      changed();
    },
    resume(cause) {
      if (!causes.delete(cause)) return;
      changed();
      warn(causes.size === 0 ? 'Calls and changes are accepted again' : `Still no calls or changes: ${[...causes.values()].join(' ')}`);
    },
    get refusal() {
      return refusal;
    },
    reasons: () => [...causes.values()],
  };
}
