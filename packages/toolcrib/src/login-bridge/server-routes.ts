import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import type { BridgeAddress } from './bridge-address.ts';
import { mountProvider } from './mount-provider.ts';
import { refuse } from './refuse.ts';

interface ServerRoutesInput {
  address: BridgeAddress;
  provider: () => Provider;
  /** Refuses what comes too often, or under a host that is not ours. */
  admit(request: FastifyRequest): void;
}

const config = { guarded: false, anyOrigin: true };

/** [LOGIN-3] What the library answers: the metadata, the keys, logins and tokens. It reads the bodies itself. */
export function addServerRoutes(scope: FastifyInstance, input: ServerRoutesInput): void {
  const { address, admit } = input;
  const mount = mountProvider(input.provider, address);

  /** Without the prefix, which the library does not know of. */
  const pass = (path: (request: FastifyRequest) => string) => (request: FastifyRequest, reply: FastifyReply) => {
    try {
      admit(request);
      mount(path(request), request, reply);
    } catch (error) {
      refuse(reply, error);
    }
  };
  const own = pass(({ raw }) => (raw.url ?? '').replace(/^\/login/, ''));
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
  for (const url of ['/login/auth', '/login/auth/:uid', '/login/token', '/login/jwks'])
    scope.route({ method: ['GET', 'POST', 'OPTIONS'], url, config, handler: own });

  for (const kind of ['oauth-authorization-server', 'openid-configuration'])
    for (const url of metadataPaths(kind, address))
      scope.route({ method: ['GET', 'OPTIONS'], url, config, handler: pass(() => `/.well-known/${kind}`) });
}

/** RFC 8414 §3.1 puts its own part before the path of the issuer; clients look in the other places too. */
function metadataPaths(kind: string, { issuer }: BridgeAddress): string[] {
  const { pathname } = new URL(issuer);
  return [...new Set([`/.well-known/${kind}/login`, `/.well-known/${kind}${pathname}`, `/login/.well-known/${kind}`])];
}
