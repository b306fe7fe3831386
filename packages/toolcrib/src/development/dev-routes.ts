import type { FastifyInstance, FastifyReply } from 'fastify';
import type { DevIssuer } from '../identity/development/dev-issuer.ts';
import { OAuthError } from '../identity/development/oauth-error.ts';

/** [ID-1] The development issuer's own endpoints, in OAuth's forms. Only there in development mode, which is only there on loopback. */
export function addDevRoutes(app: FastifyInstance, issuer: DevIssuer): void {
  void app.register((scope, _options, done) => {
    scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, parsed) => {
      parsed(null, new URLSearchParams(body as string));
    });
    scope.get('/dev/jwks', () => Promise.resolve(issuer.jwks()));
    scope.get('/dev/.well-known/openid-configuration', () => Promise.resolve(issuer.metadata()));
    scope.get('/dev/client', (request, reply) => answer(reply, async () => issuer.gatewayCredentialsFor(request.headers.authorization)));
    scope.post('/dev/token', (request, reply) =>
      answer(reply, () => {
        const body = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
        return issuer.token(body, request.headers.authorization);
      }),
    );
    done();
  });
}

/** In the form that clients of a token endpoint expect, refusals too. */
async function answer(reply: FastifyReply, give: () => Promise<object>): Promise<object> {
  void reply.header('cache-control', 'no-store');
  try {
    return await give();
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return reply.code(error.status).send(error.toJSON());
  }
}
