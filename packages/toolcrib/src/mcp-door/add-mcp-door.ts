import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { SendError } from '../http/send-error.ts';
import type { Principal } from '../model/principal.ts';
import { addResourceMetadata } from './add-resource-metadata.ts';
import { createDiscoveryLog } from './discovery-log.ts';
import { doorAddress, noSuchAddress, type DoorAddress } from './door-address.ts';
import { createDoorAuthentication } from './door-authentication.ts';
import { DoorReply, headOf } from './door-reply.ts';
import { doorResource, queryOf } from './door-resource.ts';
import type { DoorService } from './door-service.ts';
import type { DoorTokens } from './door-tokens.ts';
import { refuse } from './refuse.ts';
import { refuseOtherMethods } from './refuse-other-methods.ts';
import { DoorError, rpcCodes } from './rpc.ts';

interface DoorRoutesInput {
  service: DoorService;
  tokens: DoorTokens;
  authorizationServers: readonly string[];
  publicUrl: string;
  logger: Logger;
  sendError: SendError;
  bodyLimitBytes: number;
}

const methods = ['GET', 'POST', 'DELETE'];

declare module 'fastify' {
  interface FastifyRequest {
    /** [DOOR-1] Of the door, where it was asked. */
    doorAddress: DoorAddress | null;
  }
}

/** [DOOR-1] `/mcp` for all tools of the caller, `/mcp/{group}` for those of a group. */
export function addMcpDoor(app: FastifyInstance, input: DoorRoutesInput): void {
  const { service } = input;
  const log = createDiscoveryLog(input.logger);
  const authenticate = createDoorAuthentication({ ...input, log });

  /** An address with a slash too many is told so, before a client logs in for a resource that there is not. */
  function enter(request: FastifyRequest, reply: FastifyReply, next: () => void): void {
    const { group } = request.params as { group?: string };
    const address = doorAddress(group, request.query);
    if (address === undefined) return refuse(takeOver(reply), new DoorError(rpcCodes.badRequest, noSuchAddress, { status: 404 }), null);
    request.doorAddress = address;
    authenticate(request, reply, doorResource(input.publicUrl, group, queryOf(request.url)), next);
  }

  function answer(request: FastifyRequest, reply: FastifyReply): void {
    const { method, headers } = request;
    const body = typeof request.body === 'string' ? request.body : undefined;
    const { principal, address } = { principal: request.principal as Principal, address: request.doorAddress as DoorAddress };
    const visit = { principal, address, headers, reply: takeOver(reply) };
    if (method === 'GET') service.get(visit);
    else if (method === 'DELETE') service.delete(visit);
    else service.post(visit, body);
  }

  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, parsed) => parsed(null, body));
    scope.decorateRequest('doorAddress', null);
    for (const url of ['/mcp', '/mcp/:group']) {
      scope.route({ method: methods, url, exposeHeadRoute: false, bodyLimit: input.bodyLimitBytes, onRequest: enter, handler: answer });
      refuseOtherMethods(scope, url, methods, enter);
    }
    addResourceMetadata(scope, { ...input, log });
    done();
  });
}

/** The service answers by itself, now or later. */
function takeOver(reply: FastifyReply): DoorReply {
  reply.hijack();
  return new DoorReply(reply.raw, headOf(reply.getHeaders()));
}
