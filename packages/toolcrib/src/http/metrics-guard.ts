import { hash, timingSafeEqual } from 'node:crypto';
import { CribError } from '../model/crib-error.ts';

/** Why metrics are refused; undefined where they are given. */
export type MetricsGuard = (authorization: string | undefined) => CribError | undefined;

interface MetricsGuardInput {
  token: string | undefined;
  /** Whether anybody may read metrics where no token is set. */
  open: boolean;
}

/** [OPS-1] Metrics name sources and tools, so reading them takes a token of their own. */
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

/** Digests have equal length, so the comparison takes the same time for every token. */
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
