import { hash, timingSafeEqual } from 'node:crypto';
import { CribError } from '../model/crib-error.ts';

/** Why metrics are refused; undefined where they are given. */
export type MetricsGuard = (authorization: string | undefined) => CribError | undefined;

interface MetricsGuardInput {
  token: string | undefined;
  /** Whether whoever reaches the port may read them where no token is set. */
  open: boolean;
}

/** [OPS-1] Metrics name sources and tools: they are for whoever collects them, with a token that is good for nothing else. */
export function createMetricsGuard({ token, open }: MetricsGuardInput): MetricsGuard {
  if (token === undefined) {
    const off = 'Metrics are not served here: set --metrics-token, or --metrics-listen for a port of their own';
    return () => (open ? undefined : new CribError('NOT_FOUND', off));
  }
  const expected = digest(`Bearer ${token}`);
  return (authorization) =>
    authorization !== undefined && timingSafeEqual(digest(authorization), expected)
      ? undefined
      : new CribError('UNAUTHENTICATED', 'Metrics need their own token: Authorization: Bearer <the token of --metrics-token>');
}

/** Of one length, so that the time of comparing tells nothing. */
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
