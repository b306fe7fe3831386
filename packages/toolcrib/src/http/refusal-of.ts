import type { FastifyRequest } from 'fastify';
import type { CribError } from '../model/crib-error.ts';
import type { Refusal } from '../model/refusal.ts';
import { callerAddress } from './caller-address.ts';

const longestReason = 300;

/**
 * [SEC-4] The record of a request that was refused because of its sender; undefined for any other request. Refused calls are in the record of
 * calls. No message of ours quotes a token.
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
