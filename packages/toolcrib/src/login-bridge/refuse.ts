import type { FastifyReply } from 'fastify';
import { CribError } from '../model/crib-error.ts';

/** In the form of OAuth. */
export function refuse(reply: FastifyReply, error: unknown, onFault?: (error: unknown) => void): void {
  const known = error instanceof CribError ? error : undefined;
  if (known === undefined) onFault?.(error);
  const code =
    known === undefined ? 'server_error' : known.code === 'RATE_LIMITED' || known.retryable ? 'temporarily_unavailable' : 'invalid_request';
  if (known?.retryAfterMs !== undefined) void reply.header('retry-after', String(Math.max(1, Math.ceil(known.retryAfterMs / 1000))));
  const error_description = known?.message ?? 'Something failed inside Toolcrib; its log says more';
  void reply
    .code(known?.httpStatus ?? 500)
    .type('application/json')
    .send({ error: code, error_description });
}
