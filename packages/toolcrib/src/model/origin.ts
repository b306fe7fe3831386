import type { ErrorCode } from './error-code.ts';

/**
 * Whose failure an error is: `tool`, which ran and says that it failed; `source`, which is down, broken or refuses our credential; `gateway`,
 * which is Toolcrib with its limits and its database; `caller`, who sent what does not fit, may not, or went away.
 */
export const origins = ['tool', 'source', 'gateway', 'caller'] as const;
export type Origin = (typeof origins)[number];

interface Failure {
  code: ErrorCode;
  origin: Origin | undefined;
  upstreamStatus: number | undefined;
}

const ofRefusals: Record<ErrorCode, Origin> = {
  VALIDATION_ERROR: 'caller',
  UNAUTHENTICATED: 'caller',
  FORBIDDEN: 'caller',
  NOT_FOUND: 'caller',
  CONFLICT: 'caller',
  PAYLOAD_TOO_LARGE: 'caller',
  RATE_LIMITED: 'gateway',
  INTERNAL: 'gateway',
  NETWORK_ERROR: 'source',
  SERVICE_UNAVAILABLE: 'gateway',
};

/** Of a request that was refused before any source was asked. */
export function originOfRefusal({ origin, code }: Pick<Failure, 'origin' | 'code'>): Origin {
  return origin ?? ofRefusals[code];
}

/** Of what went wrong once a source was asked: its failure, unless the error says otherwise. */
export function originOfFailure({ origin, code, upstreamStatus }: Failure): Origin {
  if (origin !== undefined) return origin;
  return code === 'INTERNAL' || (code === 'RATE_LIMITED' && upstreamStatus === undefined) ? 'gateway' : 'source';
}
