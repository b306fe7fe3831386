import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

/**
 * [SEC-4] Where a request came from: the nearest address that is not one of the proxies we trust. Without such proxies it is the peer, whatever
 * headers say; a trusted proxy that passes on something else than an address is itself what is known.
 */
export function callerAddress({ ip, socket }: FastifyRequest): string {
  return isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip;
}
