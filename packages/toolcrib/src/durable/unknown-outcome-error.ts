import { CribError } from '../model/crib-error.ts';

/** [POLL-2] [WF-2] A step that must not run twice was begun, and it is unknown whether it took effect. The call ends as `unknown`. */
export class UnknownOutcomeError extends CribError {
  override name = 'UnknownOutcomeError';

  constructor(message: string, options: { cause?: unknown } = {}) {
    super('SERVICE_UNAVAILABLE', message, { retryable: false, origin: 'gateway', ...options });
  }
}
