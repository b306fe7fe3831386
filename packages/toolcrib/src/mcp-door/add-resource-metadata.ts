import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CribError } from '../model/crib-error.ts';
import type { SendError } from '../http/send-error.ts';
import { refuseOtherMethods } from './refuse-other-methods.ts';
import type { DiscoveryLog } from './discovery-log.ts';
import { doorAddress, noSuchAddress } from './door-address.ts';
import { doorScope } from './door-authentication.ts';
import { doorResource, metadataPath, publicPrefix, queryOf } from './door-resource.ts';

interface ResourceMetadataInput {
  /** The issuers at which clients of the door log in. */
  authorizationServers: readonly string[];
  /** Where callers reach the server, without a slash at its end. */
  publicUrl: string;
  sendError: SendError;
  log: DiscoveryLog;
}

/**
 * [LOGIN-1] RFC 9728: what clients have to know of an address to log in. It is there for groups that do not exist, too: which ones do is for
 * callers with a token to know.
 */
export function addResourceMetadata(
  app: FastifyInstance,
  { authorizationServers, publicUrl, sendError, log }: ResourceMetadataInput,
): void {
  function answer(request: FastifyRequest, reply: FastifyReply): void {
    const { group } = request.params as { group?: string };
    if (doorAddress(group, request.query) === undefined) return sendError(reply, new CribError('NOT_FOUND', noSuchAddress));
    const { url } = doorResource(publicUrl, group, queryOf(request.url));
    log(request, 'read the metadata of an address', { resource: url });
    void reply.type('application/json').send({
      resource: url,
      authorization_servers: authorizationServers,
      scopes_supported: [doorScope],
      bearer_methods_supported: ['header'],
      resource_name: group === undefined ? 'Toolcrib' : `Toolcrib: ${group}`,
    });
  }

  for (const path of pathsBehind(publicUrl)) {
    for (const url of [`${path}/mcp`, `${path}/mcp/:group`]) {
      app.route({ method: ['GET', 'HEAD'], url, handler: answer });
      refuseOtherMethods(app, url, ['GET', 'HEAD']);
    }
  }
}

/** A proxy that serves us below a path may pass the well-known part on with this path, or without it. */
function pathsBehind(publicUrl: string): string[] {
  const prefix = publicPrefix(publicUrl);
  // The router compares decoded paths, and takes a colon for a parameter.
  return prefix === '' ? [metadataPath] : [metadataPath, `${metadataPath}${decodeURI(prefix).replaceAll(':', '::')}`];
}
