import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { RefusalLog } from '../administration/refusal-log.ts';
import { authenticationFailure } from '../identity/authentication-failure.ts';
import { CribError } from '../model/crib-error.ts';
import { storageTrouble } from '../store/storage-trouble.ts';
import { protect } from './browser-guard.ts';
import { callerAddress } from './caller-address.ts';
import type { Metrics } from './metrics.ts';
import { refusalOf } from './refusal-of.ts';
import { traceIdIn } from './request-traces.ts';
import { toCribError } from './to-crib-error.ts';

interface SendErrorInput {
  /** [SEC-4] Told of every request that is refused for who sent it. */
  onRefused: RefusalLog['note'];
  metrics: Metrics;
  logger: Logger;
}

export type SendError = (reply: FastifyReply, error: unknown) => void;

/** [EXEC-6] The one form in which requests are refused, whatever was thrown. */
export function createSendError({ onRefused, metrics, logger }: SendErrorInput): SendError {
  function fault({ request }: FastifyReply, error: unknown): CribError {
    const route = request.routeOptions.url;
    logger.error({ err: error, request_id: request.id, address: callerAddress(request), ...traceIdIn(request), route }, 'request failed');
    return new CribError('INTERNAL', `Something failed inside Toolcrib; the server's log has request ${request.id}`);
  }

  return (reply, error) => {
    const { request } = reply;
    protect(reply);
    const trouble = storageTrouble(error);
    if (trouble !== undefined) {
      metrics.databaseFailed('request');
      logger.warn({ err: error, route: request.routeOptions.url }, trouble);
    }
    const refusal = toCribError(error) ?? fault(reply, error);
    const noted = refusalOf(request, refusal);
    if (noted !== undefined) onRefused(noted);
    request.span?.set({ 'toolcrib.error.code': refusal.code });
    if (refusal.code === 'UNAUTHENTICATED') {
      // A caller who is known may still lack a credential for something else.
      if (request.principal === null) {
        metrics.authenticationFailed(request.headers.authorization === undefined ? 'missing' : authenticationFailure(refusal));
      }
      // A door may have said more.
      if (!reply.hasHeader('www-authenticate')) void reply.header('www-authenticate', 'Bearer');
    }
    if (refusal.retryAfterMs !== undefined) void reply.header('retry-after', String(Math.max(1, Math.ceil(refusal.retryAfterMs / 1000))));
    void reply.code(refusal.httpStatus).type('application/json; charset=utf-8').send(JSON.stringify(refusal));
  };
}
