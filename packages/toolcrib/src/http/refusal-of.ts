import type { FastifyRequest } from 'fastify';
import type { CribError } from '../model/crib-error.ts';
import type { Refusal } from '../model/refusal.ts';
import { callerAddress } from './caller-address.ts';

const longestReason = 300;

/**
 * [SEC-4] What is recorded of a request that was refused for who sent it; undefined for any other. Calls have a record of their own, which
 * says the same. Our messages repeat nothing of a token.
 */
export function refusalOf(request: FastifyRequest, { code, message }: CribError): Omit<Refusal, 'id' | 'at' | 'count'> | undefined {
  const { principal, method } = request;
  const route = request.routeOptions.url ?? null;
  const unknown = code === 'UNAUTHENTICATED' && principal === null;
  const forbidden = code === 'FORBIDDEN' && principal !== null && route?.startsWith('/api/bff/') !== true;
  if (!unknown && !forbidden) return undefined;
  return {
    kind: unknown ? 'authentication' : 'authorization',
    code,
    reason: message.slice(0, longestReason),
    issuer: principal?.issuer ?? null,
    subject: principal?.subject ?? null,
    client: principal?.client ?? null,
    address: callerAddress(request),
    method,
    route,
    request_id: request.id,
    user_name: principal?.name ?? null,
  };
}
