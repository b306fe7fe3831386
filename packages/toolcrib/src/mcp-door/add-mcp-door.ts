import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SendError } from '../http/send-error.ts';
import { bearerToken } from '../http/read-request.ts';
import type { TokenVerifier } from '../identity/verify-token.ts';
import type { Principal } from '../model/principal.ts';
import { doorAddress } from './door-address.ts';
import { DoorReply, headOf } from './door-reply.ts';
import type { DoorService } from './door-service.ts';
import { idIn, refuse } from './refuse.ts';
import { DoorError, rpcCodes } from './rpc.ts';

export interface McpDoorInput {
  service: DoorService;
  verifier: TokenVerifier;
  sendError: SendError;
  bodyLimitBytes: number;
}

const groupPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** [DOOR-1] `/mcp` for all tools of the caller, `/mcp/{group}` for those of a group. */
export function addMcpDoor(app: FastifyInstance, input: McpDoorInput): void {
  const { service } = input;

  function answer(request: FastifyRequest, reply: FastifyReply, principal: Principal): void {
    const { group } = request.params as { group?: string };
    const { method, headers } = request;
    const body = typeof request.body === 'string' ? request.body : undefined;
    // The service answers by itself, now or later.
    reply.hijack();
    const answers = new DoorReply(reply.raw, headOf(reply.getHeaders()));
    const address = group === undefined || groupPattern.test(group) ? doorAddress(group, request.query) : undefined;
    if (address === undefined) return refuse(answers, noSuchAddress(), idIn(body));
    const visit = { principal, address, headers, reply: answers };
    if (method === 'GET') service.get(visit);
    else if (method === 'DELETE') service.delete(visit);
    else service.post(visit, body);
  }

  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, parsed) => parsed(null, body));
    for (const url of ['/mcp', '/mcp/:group']) {
      scope.route({
        method: ['GET', 'POST', 'DELETE'],
        url,
        bodyLimit: input.bodyLimitBytes,
        onRequest: (request, reply, next) => authenticate(input, request, reply, next),
        handler: (request, reply) => answer(request, reply, request.principal as Principal),
      });
    }
    done();
  });
}

function noSuchAddress(): DoorError {
  return new DoorError(rpcCodes.badRequest, 'There is no such address: /mcp, /mcp/{group}, with ?mode=search or ?names=own', {
    status: 404,
  });
}

function authenticate({ verifier, sendError }: McpDoorInput, request: FastifyRequest, reply: FastifyReply, next: () => void): void {
  const admit = (principal: Principal) => {
    request.principal = principal;
    next();
  };
  try {
    const verified = verifier.verify(bearerToken(request.headers.authorization));
    if (verified instanceof Promise) verified.then(admit).catch((error: unknown) => sendError(reply, error));
    else admit(verified);
  } catch (error) {
    sendError(reply, error);
  }
}
