import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SendError } from '../http/send-error.ts';
import { bearerToken, parseJsonBody } from '../http/read-request.ts';
import type { TokenVerifier } from '../identity/verify-token.ts';
import { CribError } from '../model/crib-error.ts';
import { isObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import { doorAddress } from './door-address.ts';
import { LegacyDoor, asDoorError, type LegacyDoorInput, type Visit } from './legacy-door.ts';
import { ModernDoor } from './modern-door.ts';
import { isModern } from './modern-head.ts';
import { DoorError, errorText, rpcCodes } from './rpc.ts';

export interface McpDoorInput extends LegacyDoorInput {
  verifier: TokenVerifier;
  sendError: SendError;
  bodyLimitBytes: number;
}

const groupPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** [DOOR-1] `/mcp` for all tools of the caller, `/mcp/{group}` for those of a group. */
export function addMcpDoor(app: FastifyInstance, input: McpDoorInput): void {
  const legacy = new LegacyDoor(input);
  const modern = new ModernDoor(input);

  function serve(visit: Visit): void {
    const { request } = visit;
    if (request.method === 'GET') return legacy.get(visit);
    if (request.method === 'DELETE') return legacy.delete(visit);
    const body = readBody(request);
    if (isObject(body) && isModern(body, request.headers)) modern.post(visit, body);
    else legacy.post(visit, body);
  }

  function answer(request: FastifyRequest, reply: FastifyReply, principal: Principal): void {
    const { group } = request.params as { group?: string };
    try {
      const address = group === undefined || groupPattern.test(group) ? doorAddress(group, request.query) : undefined;
      if (address === undefined)
        throw new DoorError(rpcCodes.badRequest, 'There is no such address: /mcp, /mcp/{group}, with ?mode=search or ?names=own', {
          status: 404,
        });
      serve({ principal, address, request, reply });
    } catch (error) {
      const failure = asDoorError(error);
      void reply
        .code(failure.status)
        .type('application/json')
        .send(errorText(idIn(request), failure));
    }
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
        // It answers by itself, now or later.
        handler: (request, reply) => answer(request, reply, request.principal as Principal),
      });
    }
    done();
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

function readBody({ body }: FastifyRequest): unknown {
  if (typeof body !== 'string')
    throw new DoorError(rpcCodes.invalidRequest, 'Send a JSON-RPC message as application/json', { status: 400 });
  try {
    return parseJsonBody(body);
  } catch (error) {
    const message = error instanceof CribError ? error.message : 'The body is not valid JSON';
    throw new DoorError(rpcCodes.parse, message, { status: 400 });
  }
}

/** The id of the request that was refused, where it can be read. */
function idIn({ body }: FastifyRequest): string | number | null {
  try {
    const message = typeof body === 'string' ? (JSON.parse(body) as unknown) : undefined;
    const id = isObject(message) ? message['id'] : null;
    return typeof id === 'string' || typeof id === 'number' ? id : null;
  } catch {
    return null;
  }
}
