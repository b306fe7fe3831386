import type { FastifyReply, FastifyRequest } from 'fastify';
import { bearerToken } from '../http/read-request.ts';
import type { SendError } from '../http/send-error.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { DiscoveryLog } from './discovery-log.ts';
import type { DoorResource } from './door-resource.ts';
import type { DoorTokens } from './door-tokens.ts';

/** The one scope of the door. */
export const doorScope = 'mcp';

export interface DoorAuthenticationInput {
  tokens: DoorTokens;
  sendError: SendError;
  log: DiscoveryLog;
}

/** [LOGIN-1] [LOGIN-2] Admits the person of the token, or says where a client can get one. */
export function createDoorAuthentication({ tokens, sendError, log }: DoorAuthenticationInput) {
  return function authenticate(request: FastifyRequest, reply: FastifyReply, resource: DoorResource, next: () => void): void {
    const admit = (principal: Principal) => {
      request.principal = principal;
      next();
    };
    const refuse = (error: unknown) => {
      if (error instanceof CribError && error.code === 'UNAUTHENTICATED') {
        const reason = request.headers.authorization === undefined ? undefined : error.message;
        log(request, reason === undefined ? 'asked to log in' : 'token refused', { resource: resource.url, ...(reason && { reason }) });
        void reply.header('www-authenticate', challenge(resource, reason));
      }
      sendError(reply, error);
    };
    try {
      const verified = tokens.verify(bearerToken(request.headers.authorization), resource.base);
      if (verified instanceof Promise) verified.then(admit).catch(refuse);
      else admit(verified);
    } catch (error) {
      refuse(error);
    }
  };
}

/** RFC 6750 §3, RFC 9728 §5.1. The reason is there where a token was sent. */
function challenge({ metadataUrl }: DoorResource, reason: string | undefined): string {
  const error = reason === undefined ? '' : `, error="invalid_token", error_description="${quotable(reason)}"`;
  return `Bearer resource_metadata="${metadataUrl}", scope="${doorScope}"${error}`;
}

/** The characters that RFC 6750 §3 allows in a description. */
function quotable(text: string): string {
  return text.replaceAll('"', "'").replaceAll(/[^\x20-\x5b\x5d-\x7e]/g, '?');
}
